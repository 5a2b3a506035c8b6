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

// Forecaster is a sampler that knows the most it will decode after the prompt.
type Forecaster interface {
	Forecast(prompt, horizon, vocabulary int) int
}

// Estimate returns the most that Generate will decode with the same arguments:
// about K·M·H tokens for each emitted one with [Importance], (N+1)·T²/2B with
// [MCMC], N·T with [SMC]. A sampler that is no [Forecaster] is counted as if
// it decoded what it emits.
func Estimate(m Model, prompt []llm.Token, s Sampler, opt Options) Forecast {
	n := opt.MaxTokens
	if n == 0 {
		n = defaultMaxTokens
	}
	n = max(0, min(n, m.Limit()-len(prompt)+1))
	f := Forecast{Emitted: n, Decoded: max(0, n-1)} // nothing is decoded after the last
	if k, ok := s.(Forecaster); ok && n > 0 {
		f.Decoded = k.Forecast(len(prompt), n, vocabulary(m))
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

func tokens(n int) string { return plural(n, "token") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
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
