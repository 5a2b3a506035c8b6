package llm

type template struct{}
