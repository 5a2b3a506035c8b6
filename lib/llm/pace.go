package llm

import "time"

// idlePoll is ggml's polling level between graphs.
const idlePoll = 0

type pace struct{ max int }

func (p *pace) init(threads int)                          { p.max = threads }
func (p *pace) threads() int                              { return p.max }
func (p *pace) start() time.Time                          { return time.Now() }
func (p *pace) stop(start time.Time, n int) time.Duration { return time.Since(start) }
