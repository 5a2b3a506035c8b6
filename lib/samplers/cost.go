package samplers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/lib/llm"
)

// Forecast is what a generation will take at most: end tokens, of the
// completion and of rollouts, make it less.
type Forecast struct {
	Emitted int // tokens
	Decoded int // tokens after the prompt
}

// Estimate returns the most that Generate will decode with the same
// arguments: for [Importance] about K·M·H tokens for each emitted one, and one
// for samplers that do not look ahead, among which it counts your own.
func Estimate(m Model, prompt []llm.Token, s Sampler, opt Options) Forecast {
	n := opt.MaxTokens
	if n == 0 {
		n = defaultMaxTokens
	}
	n = max(0, min(n, m.Limit()-len(prompt)+1))
	f := Forecast{Emitted: n}
	params := s.Params()
	v := vocabulary(m)
	for left := n; left > 1; left-- { // nothing is decoded after the last
		f.Decoded++
		h := min(int(params["look_ahead"]), left-1)
		if h > 0 && params["alpha"] != 1 {
			k := min(int(params["top_k"]), v)
			f.Decoded += k - 1 + k*int(params["rollouts"])*(h-1)
		}
	}
	return f
}

// String tells the forecast in words.
func (f Forecast) String() string {
	return fmt.Sprintf("up to %s, %s decoded", tokens(f.Emitted), thousands(f.Decoded))
}

// Seconds is the time the decoding takes at rate tokens a second.
func (f Forecast) Seconds(rate float64) float64 { return float64(f.Decoded) / rate }

// CostLine tells a cost in one line: "40 tokens, 38,400 decoded, 12.3 s,
// 3,120 tok/s in decode, 4 % outside". The rate counts the prompt; outside is
// the share of the time that was not spent in the model.
func CostLine(c llm.Cost) string {
	line := fmt.Sprintf("%s, %s decoded, %.3g s", tokens(c.Emitted), thousands(c.Decoded), c.TotalSeconds)
	if c.DecodeSeconds <= 0 || c.TotalSeconds <= 0 {
		return line
	}
	return fmt.Sprintf("%s, %s tok/s in decode, %.0f %% outside", line,
		thousands(int(float64(c.Prompt+c.Decoded)/c.DecodeSeconds)),
		100*max(0, 1-c.DecodeSeconds/c.TotalSeconds))
}

func tokens(n int) string {
	if n == 1 {
		return "1 token"
	}
	return thousands(n) + " tokens"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
