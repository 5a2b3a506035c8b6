package samplers

// Targeter is a sampler that can say what law it draws from, or tends to as
// its rollouts, moves or particles grow.
type Targeter interface {
	Target() string
}

const (
	wholePower = "p^α of whole completions"
	cutStep    = ", over each step's candidates and renormalised there"
	cutNow     = ", restricted to each step's candidates; futures are of the whole vocabulary"
)

// Target is p, or p^(1/T) at each token, over what candidates are left.
func (p Plain) Target() string {
	c := p.Candidates.withDefaults()
	t := "p"
	if c.Temperature != 1 {
		t = "p^(1/temperature) of each token"
	}
	if c.cuts() {
		t += cutStep
	}
	return t
}

// Target is p^α at each token.
func (l LowTemperature) Target() string {
	if l.Candidates.cuts() {
		return "p^α of each token" + cutStep
	}
	return "p^α of each token"
}

// Target is the power distribution over the candidates, cut at the look-ahead.
func (p Importance) Target() string { return ahead(p.LookAhead) + cutNow }

// Target is the power distribution over the candidates; what a branch sampler
// makes of it is its own matter.
func (p branching) Target() string {
	t := ahead(p.LookAhead)
	if b, ok := p.branch.(*MetropolisBranch); ok && b.StateAverage {
		t = "p^α·S_2α/S_α in place of p^α·S_α"
	}
	if p.beam != nil {
		t = "p^α times a bound of ζ from below"
	}
	return t + cutNow
}

func ahead(depth int) string {
	if depth == NoLookAhead {
		return "p^α of each token"
	}
	return wholePower + ", the futures cut at the look-ahead"
}

// Target is the power distribution.
func (b Block) Target() string { return ahead(b.LookAhead) }

// Target is the power distribution.
func (c MCMC) Target() string { return wholePower }

// Target is the power distribution.
func (c SMC) Target() string { return wholePower }

// Target is the power distribution.
func (t Tempering) Target() string { return wholePower }

// Target is what it says.
func (b BestOf) Target() string { return "the best of n completions of p^(1/temperature)" }

// Target is what it says.
func (v Majority) Target() string {
	return "the most frequent answer of n completions of p^(1/temperature)"
}
