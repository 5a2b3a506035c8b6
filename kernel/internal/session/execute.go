package session

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/branchbook/branchbook/kernel/internal/wire"
)

const (
	// gather is how long after its arrival a failing cell waits before it
	// aborts what is queued: requests of a "run all" are on their way one
	// after the other, and the first may fail before the last is here.
	gather = 10 * time.Millisecond
	// overtake is by how much a request may arrive before an interrupt and
	// still count as sent after it: they come over two connections.
	overtake = 20 * time.Millisecond
)

// execute answers one execute_request, and those that it aborts.
func (s *Session) execute(e execute) {
	ctx, end := s.interruptible(&e.msg) // who hears that it is busy may interrupt it
	s.publish(&e.msg, "status", wire.Status{ExecutionState: "busy"})
	var aborted []execute
	bug := protect(func() { aborted = s.executeNow(ctx, e) })
	end()
	if bug != nil {
		s.cfg.Log.Error("session: execute", "err", bug)
		f := plainFailure("KernelError", bug.Error())
		s.reply(wire.Shell, &e.msg, "execute_reply", wire.ErrorReply{Status: "error", ErrorFields: f.fields()})
	}
	s.publish(&e.msg, "status", wire.Status{ExecutionState: "idle"})
	for _, a := range aborted {
		s.refuse(a)
	}
}

func (s *Session) executeNow(ctx context.Context, e execute) (aborted []execute) {
	m := &e.msg
	var req wire.ExecuteRequest
	if !s.decode(wire.Shell, m, "execute_reply", &req) {
		return nil
	}
	if !req.Silent {
		count := s.nb.Count()
		if req.Stores() {
			count++
		}
		s.publish(m, "execute_input", wire.ExecuteInput{Code: req.Code, ExecutionCount: count})
	}
	if req.Stores() {
		s.cfg.History.Add(s.nb.Count()+1, req.Code)
	}
	if s.page(m, req) {
		return nil
	}
	res := s.run(ctx, m, req)
	reply := wire.ExecuteReply{Status: string(res.Status), ExecutionCount: res.Count}
	if res.Status == OK {
		reply.UserExpressions = s.userExpressions(ctx, req.UserExpressions)
		reply.Payload = []any{}
		if res.NextInput != "" {
			reply.Payload = append(reply.Payload, wire.SetNextInput{Source: "set_next_input", Text: res.NextInput, Replace: true})
		}
	} else {
		reply.ErrorFields = failure{res.EName, res.EValue, res.Traceback}.fields()
		if req.Stops() {
			aborted = s.abort(e.at)
		}
	}
	s.reply(wire.Shell, m, "execute_reply", reply)
	return aborted
}

// nameAndMark is a cell that asks about a name: "fmt.Println?".
var nameAndMark = regexp.MustCompile(`^\s*([\pL\pN_]+(?:\.[\pL\pN_]+)*)\?+\s*$`)

// page answers a cell that asks about a name, with the payload that front ends
// show in a pager ("Execute", payloads). It reports whether m was one.
func (s *Session) page(m *wire.Message, req wire.ExecuteRequest) bool {
	match := nameAndMark.FindStringSubmatch(req.Code)
	if match == nil {
		return false
	}
	text, found := s.nb.Inspect(match[1], utf8.RuneCountInString(match[1]), strings.HasSuffix(strings.TrimSpace(req.Code), "??"))
	if !found {
		text = fmt.Sprintf("nothing is known of %s", match[1])
	}
	count := s.nb.skip(!req.Stores())
	s.reply(wire.Shell, m, "execute_reply", wire.ExecuteReply{
		Status: string(OK), ExecutionCount: count, UserExpressions: map[string]any{},
		Payload: []any{wire.Page{Source: "page", Data: map[string]any{"text/plain": text}}},
	})
	return true
}

// interruptible returns a context that Interrupt ends, until end is called.
func (s *Session) interruptible(m *wire.Message) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel, s.running, s.latest = cancel, m, m
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cancel, s.running, s.interrupted = nil, nil, time.Time{}
	}
}

// run runs the cell of request m.
func (s *Session) run(ctx context.Context, m *wire.Message, req wire.ExecuteRequest) Result {
	res, err := s.nb.Execute(ctx, Request{Source: req.Code, Silent: req.Silent, NoStore: !req.Stores(), Input: s.input(m, req)}, func(o Output) {
		s.output(m, o)
	})
	if err != nil {
		f := plainFailure("KernelError", err.Error())
		res = Result{Status: Failed, Count: s.nb.Count(), EName: f.name, EValue: f.value, Traceback: f.traceback}
		if !req.Silent {
			s.output(m, Output{Type: Error, EName: f.name, EValue: f.value, Traceback: f.traceback})
		}
	}
	return res
}

// output publishes what a cell showed.
func (s *Session) output(m *wire.Message, o Output) {
	var content any
	switch o.Type {
	case Stream:
		content = wire.Stream{Name: o.Name, Text: o.Text}
	case Display, Update:
		content = wire.DisplayData{Data: o.Data, Metadata: orEmpty(o.Metadata), Transient: wire.Transient{DisplayID: o.DisplayID}}
	case ExecuteResult:
		content = wire.ExecuteResult{ExecutionCount: o.Count, Data: o.Data, Metadata: orEmpty(o.Metadata)}
		if text, ok := o.Data["text/plain"].(string); ok {
			s.cfg.History.SetOutput(o.Count, text)
		}
	case Error:
		content = failure{o.EName, o.EValue, o.Traceback}.fields()
	case Clear:
		content = wire.ClearOutput{Wait: o.Wait}
	}
	s.publish(m, string(o.Type), content)
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// abort takes from the queue what was sent before an error; at is when the
// failing request arrived. What was sent after an interrupt stays: whoever
// interrupts and goes on means the next cell to run.
func (s *Session) abort(at time.Time) []execute {
	if wait := time.Until(at.Add(gather)); wait > 0 {
		time.Sleep(wait)
	}
	s.mu.Lock()
	interrupted := s.interrupted
	s.mu.Unlock()
	return s.executes.take(func(e execute) bool {
		return interrupted.IsZero() || e.at.Before(interrupted.Add(-overtake))
	})
}

// refuse answers a request that does not run because an earlier one failed.
func (s *Session) refuse(e execute) {
	s.publish(&e.msg, "status", wire.Status{ExecutionState: "busy"})
	s.reply(wire.Shell, &e.msg, "execute_reply", wire.ExecuteReply{Status: string(Aborted), ExecutionCount: s.nb.Count()})
	s.publish(&e.msg, "status", wire.Status{ExecutionState: "idle"})
}

// userExpressions evaluates each expression as a silent cell.
func (s *Session) userExpressions(ctx context.Context, expressions map[string]string) map[string]any {
	values := map[string]any{}
	for name, source := range expressions {
		var data map[string]any
		res, err := s.nb.Evaluate(ctx, source, func(o Output) {
			if o.Type == ExecuteResult {
				data = o.Data
			}
		})
		switch {
		case err != nil:
			values[name] = wire.ErrorReply{Status: "error", ErrorFields: plainFailure("KernelError", err.Error()).fields()}
		case res.Status != OK:
			values[name] = wire.ErrorReply{Status: "error", ErrorFields: failure{res.EName, res.EValue, res.Traceback}.fields()}
		default:
			values[name] = map[string]any{"status": "ok", "data": orEmpty(data), "metadata": map[string]any{}}
		}
	}
	return values
}

func (f failure) fields() wire.ErrorFields {
	return wire.ErrorFields{EName: f.name, EValue: f.value, Traceback: f.traceback}
}
