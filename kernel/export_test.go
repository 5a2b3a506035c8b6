package kernel

// MakeUnfit lets tests see what happens where an engine does not run.
func MakeUnfit(name, why string) (restore func()) {
	for i := range engines {
		if e := &engines[i]; e.name == name {
			before := e.unfit
			e.unfit = why
			return func() { e.unfit = before }
		}
	}
	panic("no engine is called " + name)
}
