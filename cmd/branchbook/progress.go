package main

import (
	"fmt"
	"io"
	"time"

	"github.com/branchbook/branchbook/lib/llm/catalog"
)

// progress shows how a long step stands: on a terminal as one line drawn
// again, elsewhere as one line for each stage, so that a log stays short.
type progress struct {
	w        io.Writer
	terminal bool
	stage    string
	drawn    time.Time
}

func newProgress(w io.Writer) *progress { return &progress{w: w, terminal: isTerminal(w)} }

// fetch is a catalog.Options.Progress.
func (p *progress) fetch(now catalog.Progress) { p.show(string(now.Stage), now.Done, now.Total) }

func (p *progress) show(stage string, done, total int64) {
	fresh := stage != p.stage
	if fresh && p.stage != "" && p.terminal {
		fmt.Fprintln(p.w)
	}
	p.stage = stage
	if !p.terminal {
		if fresh {
			fmt.Fprintf(p.w, "%s, %s\n", stage, megabytes(total))
		}
		return
	}
	if !fresh && done < total && time.Since(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = time.Now()
	percent := int64(0)
	if total > 0 {
		percent = 100 * done / total
	}
	fmt.Fprintf(p.w, "\r%s %3d %% of %s ", stage, percent, megabytes(total))
}

// end leaves the line.
func (p *progress) end() {
	if p.stage != "" && p.terminal {
		fmt.Fprintln(p.w)
	}
	p.stage = ""
}
