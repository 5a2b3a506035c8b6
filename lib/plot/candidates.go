package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/branchbook/branchbook/lib/llm"
)

// CandidatesOptions says how Candidates draws. The zero value draws the
// twelve most probable candidates, 660 pixels wide.
type CandidatesOptions struct {
	Title string // replaces one that names the step
	// Max is how many candidates to show, by base probability; the chosen one
	// is always among them. Zero means 12, more than 60 means 60.
	Max   int
	Width int // CSS pixels, from 480 to 2000; zero means 660
}

// Candidates draws how the sampler weighed the candidates of one step, counted
// from 0: for each a bar for its probability p under the model, for p^α and
// for p^α·ζ, from which the sampler drew, the last with whiskers of one
// standard error. All three are normalised over the step's candidates. The
// chosen candidate is marked. In a live chart, pointing at a bar tells the
// rest.
//
// A step outside the record is an error. A probability that is no finite
// number has no bar, and its value is written in the bar's place.
func Candidates(rec llm.Record, step int, opt CandidatesOptions) (Figure, error) {
	if step < 0 || step >= len(rec.Steps) {
		return Figure{}, fmt.Errorf("plot: draw candidates of step %d: record has %s", step, stepsHeld(len(rec.Steps)))
	}
	v := newCandidateView(rec, step, opt)
	f := Figure{
		kind:   "candidates",
		title:  v.title,
		width:  v.width,
		height: v.height(),
		text:   v.text(),
		table:  v.table(),
		static: v.draw,
	}
	f.option = v.option()
	return f.finish()
}

func stepsHeld(n int) string {
	switch n {
	case 0:
		return "no steps"
	case 1:
		return "one step, 0"
	}
	return fmt.Sprintf("steps 0 to %d", n-1)
}

// A candidateView is what all forms of the figure show.
type candidateView struct {
	title, subtitle string
	notes           []string
	step            llm.StepRecord
	rows            []candidateRow
	names           [3]string // of the bars
	series          [3]string // names in the legend, where the last tells of whiskers
	width           int
	end             float64 // of the axis, which begins at 0
	tick            float64 // from one tick to the next
}

type candidateRow struct {
	llm.Candidate
	label  string // quoted, cut
	full   string // quoted
	chosen bool
}

// values returns the heights of the row's bars.
func (r candidateRow) values() [3]float64 { return [3]float64{r.Base, r.Power, r.Prob} }

// labelChars is how much of a token stands beside its bars.
const labelChars = 18

func newCandidateView(rec llm.Record, step int, opt CandidatesOptions) candidateView {
	s := rec.Steps[step]
	v := candidateView{
		title: oneLine(opt.Title),
		step:  s,
		width: min(max(or(opt.Width, 660), 480), 2000),
	}
	if v.title == "" {
		v.title = fmt.Sprintf("Candidates at step %d", step)
		if before := contextBefore(rec, step); before != "" {
			v.title += ", after " + before
		}
	}
	limit := min(or(opt.Max, 12), 60)
	found := false
	for i, c := range s.Candidates {
		r := candidateRow{
			Candidate: c,
			label:     quote(c.Piece, c.Token, c.End, labelChars),
			full:      quote(c.Piece, c.Token, c.End, 200),
			chosen:    c.Token == s.Token,
		}
		found = found || r.chosen
		if i < limit || r.chosen {
			v.rows = append(v.rows, r)
		}
	}
	v.names = weightNames(s)
	v.subtitle = v.summary(rec, step)
	v.end, v.tick = v.axis()
	v.series = v.names
	for _, r := range v.rows {
		if _, _, ok := v.whisker(r); ok {
			v.series[2] = v.names[2] + " ± standard error"
		}
	}

	switch n := len(s.Candidates) - len(v.rows); {
	case n == 1:
		v.notes = append(v.notes, "1 further candidate is not shown")
	case n > 1:
		v.notes = append(v.notes, fmt.Sprintf("%d further candidates are not shown", n))
	}
	switch {
	case len(s.Candidates) == 0:
		v.notes = append(v.notes, "the record holds no candidates for this step")
	case !found:
		v.notes = append(v.notes, fmt.Sprintf("the chosen token %s is not among the candidates", quote(s.Piece, s.Token, isEnd(rec, step), 40)))
	}
	return v
}

// weightNames names the three probabilities of a step's candidates: without
// look-ahead the last is only what the sampler drew from.
func weightNames(s llm.StepRecord) [3]string {
	for _, c := range s.Candidates {
		if c.LogZeta != 0 || c.ESS != 0 || c.ProbSE != 0 {
			return [3]string{"p", "p^α", "p^α·ζ"}
		}
	}
	return [3]string{"p", "p^α", "drawn from"}
}

// summary says in one line what was chosen, and how.
func (v candidateView) summary(rec llm.Record, step int) string {
	parts := []string{"chosen: " + quote(v.step.Piece, v.step.Token, isEnd(rec, step), 24)}
	if a, ok := rec.Params["alpha"]; ok {
		parts = append(parts, "α = "+strconv.FormatFloat(a, 'g', 4, 64))
	}
	if v.step.ESS != 0 {
		parts = append(parts, "smallest ESS "+number(v.step.ESS))
	}
	if v.step.Truncated != 0 {
		parts = append(parts, "p outside the candidates "+number(v.step.Truncated))
	}
	if v.step.Clamped != 0 {
		parts = append(parts, "clamped "+number(v.step.Clamped))
	}
	return strings.Join(parts, " · ")
}

// contextBefore quotes the end of the text before a step.
func contextBefore(rec llm.Record, step int) string {
	var text []byte
	for i := step - 1; i >= 0 && len(text) < 120; i-- {
		text = append(append([]byte(nil), rec.Steps[i].Piece...), text...)
	}
	if len(text) == 0 {
		text = []byte(rec.Prompt)
	}
	const limit = 28
	cut := false
	for utf8.RuneCount(text) > limit {
		_, n := utf8.DecodeRune(text)
		text, cut = text[n:], true
	}
	if len(text) == 0 {
		return ""
	}
	q := quote(text, 0, false, 4*limit)
	if cut {
		q = `"…` + q[1:]
	}
	return q
}

// axis returns the right end of the axis, with room for the longest bar and
// its whisker, and the distance between ticks, of which there are two to six.
func (v candidateView) axis() (end, tick float64) {
	top := 0.0
	for _, r := range v.rows {
		for _, x := range r.values() {
			if finite(x) {
				top = max(top, x)
			}
		}
		if finite(r.ProbSE) {
			top = max(top, r.Prob+r.ProbSE)
		}
	}
	if !(top > 1e-300) || top > 1e300 { // nothing to show, or no probabilities at all
		return 1, 0.2
	}
	tick = math.Pow(10, math.Floor(math.Log10(top))) / 5
	for top/tick > 5.5 {
		tick *= 2.5
		if top/tick > 5.5 {
			tick *= 2
		}
	}
	return math.Ceil(top/tick-1e-9) * tick, tick
}

// bar returns how far the bar for x reaches; false if there is none to draw.
func (v candidateView) bar(x float64) (float64, bool) { return v.clip(x), finite(x) }

func (v candidateView) clip(x float64) float64 { return min(max(x, 0), v.end) }

// whisker returns the ends of the whisker on the row's last bar: one standard
// error to each side, within the axis. Whiskers too short to be seen are left
// out.
func (v candidateView) whisker(r candidateRow) (lo, hi float64, ok bool) {
	if !finite(r.Prob) || !finite(r.ProbSE) {
		return 0, 0, false
	}
	lo, hi = v.clip(r.Prob-r.ProbSE), v.clip(r.Prob+r.ProbSE)
	return lo, hi, hi-lo > v.end/100
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
