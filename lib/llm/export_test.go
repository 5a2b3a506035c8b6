package llm

// WeightsInUse lets a test outside the package watch a model's memory without
// holding the model: it returns how many hold its weights.
func WeightsInUse(m *Model) func() int {
	w := m.weights
	return func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.refs
	}
}
