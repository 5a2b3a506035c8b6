package llm

import "time"

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

// Hurry makes a session believe that two threads decode in no time, so that
// its decodes run into their limit and are done again with one thread. The
// function it returns tells how many were.
func Hurry(s *Session) (again func() int) {
	p := adaptivePace(2)
	for k := range 32 {
		p.classes[k] = &[]arm{{threads: 2, perTok: 1e-12}, {threads: 1, retry: time.Now().Add(time.Hour)}}
	}
	s.pace = p
	return func() (n int) {
		for _, arms := range p.classes {
			if (*arms)[1].perTok > 0 {
				n++
			}
		}
		return n
	}
}
