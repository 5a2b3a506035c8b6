package samplers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/branchbook/branchbook/lib/llm"
)

// Generate draws one completion of prompt and records it: the tokens, the
// candidates of each step before and after, what it cost and what to beware
// of.
//
// When ctx is cancelled the record so far is returned with an error that
// wraps ctx's, and its End is [llm.EndCancelled]; after any other error, with
// an empty End. In every case the model's branches are as they were before.
//
// Errors: [*ParamError] for a parameter without meaning, [ErrPrompt] and
// [*llm.FitError] for a prompt that is empty or does not fit, [ErrNoToken],
// and the model's and the sampler's own.
func Generate(ctx context.Context, model Model, prompt []llm.Token, s Sampler, opt Options) (llm.Record, error) {
	start := time.Now()
	opt, err := opt.resolve()
	if err != nil {
		return llm.Record{}, fmt.Errorf("samplers: generate: %w", err)
	}
	l := newLedger(model)
	rec := newRecord(l, prompt, s, opt)
	rec.Cost.Forecast = Estimate(model, prompt, s, opt).Decoded
	err = generate(ctx, l, prompt, s, opt, &rec, start)
	if drop := l.close(); err == nil && drop != nil {
		err = fmt.Errorf("samplers: generate: %w", drop)
	}
	rec.Cost = l.cost(&rec, start)
	rec.Warnings = append(rec.Warnings, diagnose(&rec)...)
	if err != nil && ctx.Err() != nil {
		rec.End = llm.EndCancelled
		if !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("samplers: generate: %w: %v", ctx.Err(), err)
		}
	}
	return rec, err
}

func newRecord(m Model, prompt []llm.Token, s Sampler, opt Options) llm.Record {
	rec := llm.Record{
		Sampler:      s.Name(),
		Params:       map[string]float64{"max_tokens": float64(opt.MaxTokens)},
		Seed:         opt.Seed,
		PromptTokens: slices.Clone(prompt),
	}
	if t, ok := s.(Targeter); ok {
		rec.Target = t.Target()
	}
	rec.Model, rec.Engine = m.Info()
	for name, value := range s.Params() {
		rec.Params[name] = value
	}
	var text []byte
	for _, t := range prompt {
		text = append(text, m.Piece(t)...)
	}
	rec.Prompt = string(text)
	return rec
}

// generate steps until the generation ends and adds each step to rec.
func generate(ctx context.Context, l *ledger, prompt []llm.Token, s Sampler, opt Options, rec *llm.Record, start time.Time) error {
	st, err := s.Init(ctx, l, prompt, opt)
	if err != nil {
		return err
	}
	l.decoded = 0 // the prompt is counted apart
	var text []byte
	var told summary
	defer func() { told.record(rec) }()
	for st.End == "" {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("samplers: generate: %w", err)
		}
		next, info, err := s.Step(ctx, l, st)
		for _, step := range info.Steps {
			rec.Steps = append(rec.Steps, step)
			if !l.IsEnd(step.Token) {
				text = append(text, step.Piece...)
			}
		}
		rec.Text = string(text)
		told.add(info, rec)
		for _, w := range info.Warnings {
			if !slices.Contains(rec.Warnings, w) {
				rec.Warnings = append(rec.Warnings, w)
			}
		}
		if err != nil {
			return err
		}
		if opt.OnStep != nil {
			shown := rec.Text
			if len(rec.Steps) == 0 {
				shown = textOf(l, info.Draft)
			}
			opt.OnStep(Progress{
				Steps:     info.Steps,
				Text:      shown,
				Emitted:   len(rec.Steps),
				MaxTokens: opt.MaxTokens,
				Cost:      l.cost(rec, start),
			})
		}
		st = next
	}
	rec.End = st.End
	return nil
}

// ledger counts what a generation decodes and knows which branches it has
// open, so that they are dropped however it ends and whoever wrote the
// sampler.
type ledger struct {
	Model
	open    map[llm.Branch]bool
	decoded int
	started float64 // the model's DecodeSeconds before
}

func newLedger(m Model) *ledger {
	return &ledger{Model: m, open: map[llm.Branch]bool{}, started: m.DecodeSeconds()}
}

func (l *ledger) NewBranch() (llm.Branch, error) {
	br, err := l.Model.NewBranch()
	if err == nil {
		l.open[br] = true
	}
	return br, err
}

func (l *ledger) Fork(br llm.Branch, n int) ([]llm.Branch, error) {
	brs, err := l.Model.Fork(br, n)
	for _, br := range brs {
		l.open[br] = true
	}
	return brs, err
}

func (l *ledger) Extend(ctx context.Context, steps []llm.Step) ([]llm.Row, error) {
	rows, err := l.Model.Extend(ctx, steps)
	if err == nil {
		for _, s := range steps {
			l.decoded += len(s.Tokens)
		}
	}
	return rows, err
}

func (l *ledger) Drop(brs ...llm.Branch) error {
	for _, br := range brs {
		delete(l.open, br)
	}
	return l.Model.Drop(brs...)
}

// close drops what is still open.
func (l *ledger) close() error {
	var brs []llm.Branch
	for br := range l.open {
		brs = append(brs, br)
	}
	slices.Sort(brs)
	return l.Drop(brs...)
}

func (l *ledger) cost(rec *llm.Record, start time.Time) llm.Cost {
	return llm.Cost{
		Forecast:      rec.Cost.Forecast,
		RolloutTokens: rec.Cost.RolloutTokens,
		RolloutNodes:  rec.Cost.RolloutNodes,
		Prompt:        len(rec.PromptTokens),
		Decoded:       l.decoded,
		Emitted:       len(rec.Steps),
		DecodeSeconds: l.Model.DecodeSeconds() - l.started,
		TotalSeconds:  time.Since(start).Seconds(),
	}
}
