// Package llm loads language models and decodes branches of text with them.
package llm
