package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/lib/llm"
)

// A TokenColor is the quantity that colours tokens.
type TokenColor string

const (
	// BySurprisal colours by −log p under the model, in nats: strong where
	// the model did not expect the token.
	BySurprisal TokenColor = "surprisal"
	// ByProbability colours by p under the model: strong where it is low.
	ByProbability TokenColor = "probability"
	// ByEntropy colours by the entropy of the model's distribution, in nats:
	// strong where the model was undecided.
	ByEntropy TokenColor = "entropy"
	// ByRatio colours by log(q/p), where q is what the sampler drew the token
	// from and p the model, both over the candidates: blue where the sampler
	// raised the token, orange where it lowered it.
	ByRatio TokenColor = "ratio"
)

// TokensOptions says how Tokens draws. The zero value colours by surprisal,
// from 0 to 5 nats, 660 pixels wide.
type TokensOptions struct {
	Title string     // replaces one that names the model and the sampler
	Color TokenColor // empty means BySurprisal
	// Full is where the colour is strongest: nats, for ByProbability unused.
	// Zero means 5 for surprisal, 4 for entropy, 2 for the ratio. It is not
	// taken from the data, so that figures can be compared.
	Full float64
	// Max is how many tokens to show, from the first. Zero means 10,000.
	Max int
	// Candidates is how many candidates of a token its tooltip and table hold,
	// by base probability. Zero means 6.
	Candidates int
	Width      int // CSS pixels, from 320 to 2000; zero means 660
}

// Tokens draws a generation token by token, each coloured by what the model
// or the sampler thought of it. Pointing at a token shows its numbers and its
// best candidates before (p) and after (p^α, p^α·ζ); tables below, folded,
// hold the same for reading without a pointer.
//
// Every token is seen, whatever its bytes: control characters and bytes
// outside UTF-8 are escaped, blank and empty tokens are named, a character
// that several tokens share is shown in the first of them. Colour that has no
// number (NaN) is a dashed outline.
//
// An unknown Color, or a Full that is negative or not finite, is an error.
func Tokens(rec llm.Record, opt TokensOptions) (Figure, error) {
	v, err := newTokenView(rec, opt)
	if err != nil {
		return Figure{}, fmt.Errorf("plot: draw tokens: %w", err)
	}
	lines, more := v.wrap()
	f := Figure{
		kind:   "tokens",
		title:  v.title,
		width:  v.width,
		height: v.height(len(lines), more),
		markup: v.html(),
		text:   v.text(),
		table:  v.table(),
	}
	f.static = v.draw(f.height, lines, more)
	return f.finish()
}

// A tokenView is what all forms of the figure show.
type tokenView struct {
	rec        llm.Record
	title      string
	summary    string
	scale      scale
	cells      []tokenCell
	more       int // tokens after cells
	candidates int
	width      int
}

// A tokenCell is one token as it is shown.
type tokenCell struct {
	runs  []run
	value float64 // of the scale's quantity
	rank  int     // by base probability among the candidates, from 1; 0 if not among them
}

func newTokenView(rec llm.Record, opt TokensOptions) (tokenView, error) {
	sc, err := newScale(opt)
	if err != nil {
		return tokenView{}, err
	}
	v := tokenView{
		rec:        rec,
		title:      oneLine(opt.Title),
		summary:    summary(rec),
		scale:      sc,
		candidates: or(opt.Candidates, 6),
		width:      min(max(or(opt.Width, 660), 320), 2000),
	}
	if v.title == "" {
		v.title = heading(rec)
	}
	n := min(or(opt.Max, 10_000), len(rec.Steps))
	v.more = len(rec.Steps) - n
	shown := readable(rec)
	for i, s := range rec.Steps[:n] {
		v.cells = append(v.cells, tokenCell{runs: shown[i], value: sc.quantity(s), rank: rank(s)})
	}
	return v, nil
}

// or returns n, or what the zero value of an option means.
func or(n, zero int) int {
	if n <= 0 {
		return zero
	}
	return n
}

// heading names the model and the sampler with its main parameters, where they
// change anything.
func heading(rec llm.Record) string {
	var parts []string
	for _, s := range []string{rec.Model.Name, rec.Sampler} {
		if s != "" {
			parts = append(parts, oneLine(s))
		}
	}
	for _, p := range []struct{ name, sign string }{{"alpha", "α"}, {"temperature", "T"}} {
		if x, ok := rec.Params[p.name]; ok && x != 1 {
			parts = append(parts, p.sign+" = "+strconv.FormatFloat(x, 'g', 4, 64))
		}
	}
	if len(parts) == 0 {
		return "Tokens"
	}
	return strings.Join(parts, " · ")
}

// summary says how long the generation is, how likely, and why it ended.
func summary(rec llm.Record) string {
	n := len(rec.Steps)
	if n == 0 {
		return "the record holds no tokens"
	}
	parts := []string{plural(n, "token")}
	lp := 0.0
	for _, s := range rec.Steps {
		lp += s.LogProb
	}
	parts = append(parts, "log p = "+number(lp), fmt.Sprintf("%s nats a token", number(-lp/float64(n))))
	if rec.End != "" {
		parts = append(parts, "ended by "+string(rec.End))
	}
	return strings.Join(parts, " · ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rank returns the place of the step's token among its candidates by base
// probability, from 1; 0 if it is not among them.
func rank(s llm.StepRecord) int {
	c, ok := chosen(s)
	if !ok {
		return 0
	}
	r := 1
	for _, o := range s.Candidates {
		if o.Base > c.Base {
			r++
		}
	}
	return r
}

// logRatio returns log(q/p) of the step's token, both over the candidates
// where it is among them.
func logRatio(s llm.StepRecord) float64 {
	if c, ok := chosen(s); ok {
		return math.Log(c.Prob) - math.Log(c.Base)
	}
	return math.Log(s.Prob) - s.LogProb
}

// A scale turns a step into a colour.
type scale struct {
	quantity func(llm.StepRecord) float64
	name     string
	end      float64 // where the colour is strongest
	signed   bool    // whether what is raised has the cool ramp
	bounded  bool    // whether no value lies beyond the ticks
	inverted bool    // whether low values are the strong ones
	ticks    []float64
}

func newScale(opt TokensOptions) (scale, error) {
	full := func(zero float64) float64 {
		if opt.Full == 0 {
			return zero
		}
		return opt.Full
	}
	if opt.Full < 0 || !finite(opt.Full) {
		return scale{}, fmt.Errorf("full colour at %v: want a positive number of nats", opt.Full)
	}
	s := scale{}
	switch opt.Color {
	case BySurprisal, "":
		s.name, s.end = "surprisal −log p, nats", full(5)
		s.quantity = func(s llm.StepRecord) float64 { return -s.LogProb }
	case ByEntropy:
		s.name, s.end = "entropy of the model, nats", full(4)
		s.quantity = func(s llm.StepRecord) float64 { return s.Entropy }
	case ByProbability:
		s.name, s.end = "probability p of the model", 1
		s.quantity = func(s llm.StepRecord) float64 { return math.Exp(s.LogProb) }
		s.inverted, s.bounded = true, true
		s.ticks = []float64{1, .8, .6, .4, .2, 0}
	case ByRatio:
		s.name, s.end = "log q/p: the sampler against the model", full(2)
		s.quantity, s.signed = logRatio, true
		s.ticks = []float64{-s.end, -s.end / 2, 0, s.end / 2, s.end}
	default:
		return scale{}, fmt.Errorf("unknown colour %q: want %q, %q, %q or %q", opt.Color, BySurprisal, ByProbability, ByEntropy, ByRatio)
	}
	if s.ticks == nil {
		for k := range 6 {
			s.ticks = append(s.ticks, s.end*float64(k)/5)
		}
	}
	return s, nil
}

// strength returns how strong the colour for x is, in [0, 1], or in [−1, 1] on
// a signed scale; NaN where x is NaN.
func (s scale) strength(x float64) float64 {
	t := x / s.end
	if s.inverted {
		t = 1 - t
	}
	if s.signed {
		return min(max(t, -1), 1)
	}
	return min(max(t, 0), 1)
}
