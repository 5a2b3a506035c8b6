package session

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/branchbook/branchbook/kernel/internal/wire"
	"github.com/branchbook/branchbook/kernel/internal/worker"
)

// Input asks the user. Where line is set the answer is a line, else any part
// of what the user types or pipes. The error is io.EOF at its end, ctx's when
// the cell is interrupted, and another one where nobody can be asked.
type Input func(ctx context.Context, a worker.Ask) ([]byte, error)

// errNoInput is for who asks where nobody answers.
var errNoInput = errors.New("nobody can be asked for input here")

// ask has a cell's question answered.
func (nb *Notebook) ask(a worker.Ask) {
	nb.emitMu.Lock()
	ctx, input := nb.asked, nb.input
	nb.emitMu.Unlock()
	process, _, _ := nb.current()
	go func() {
		answer := worker.Answer{ID: a.ID}
		err := errNoInput
		if input != nil {
			answer.Text, err = input(ctx, a)
		}
		switch {
		case err == nil:
		case ctx != nil && ctx.Err() != nil:
			return // the cell is interrupted, and hears of that
		case errors.Is(err, io.EOF):
			answer.End = true
		default:
			answer.Refused = err.Error()
		}
		process.Answer(answer) // if the worker is gone, that is seen elsewhere
	}()
}

// question is an input_request that waits for its reply.
type question struct {
	header wire.Header   // of the input_request
	from   *wire.Message // the execute_request
	value  chan string
}

// errStdin is for a cell that asks in a request with allow_stdin false.
var errStdin = errors.New("the cell reads input, and whoever runs it gives none (allow_stdin is false)")

// input asks the front end that sent the execute_request m.
func (s *Session) input(m *wire.Message, req wire.ExecuteRequest) Input {
	return func(ctx context.Context, a worker.Ask) ([]byte, error) {
		if req.AllowStdin != nil && !*req.AllowStdin {
			return nil, errStdin
		}
		r, err := wire.New(s.id, "input_request", m, wire.InputRequest{Prompt: a.Prompt, Password: a.Password})
		if err != nil {
			return nil, err
		}
		r.Identities = m.Identities
		q := &question{header: r.Header, from: m, value: make(chan string, 1)}
		s.mu.Lock()
		s.question = q
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.question = nil
			s.mu.Unlock()
		}()
		s.cfg.Send(wire.Stdin, r)
		select {
		case value := <-q.value:
			if value == wire.EndOfInput {
				return nil, io.EOF
			}
			return []byte(value + "\n"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// answered takes an input_reply. One that nobody waits for, or that is the
// reply to an earlier question, is dropped.
func (s *Session) answered(m *wire.Message) {
	var reply wire.InputReply
	err := m.Decode(&reply)
	s.mu.Lock()
	q := s.question
	s.mu.Unlock()
	switch {
	case m.Header.MsgType != "input_reply" || err != nil:
		s.cfg.Log.Warn("session: malformed message on stdin", "type", m.Header.MsgType, "err", err)
	case q == nil || !q.answeredBy(m):
		s.cfg.Log.Info("session: an input_reply that nobody waits for")
	default:
		select {
		case q.value <- reply.Value:
		default: // has one already
		}
	}
}

// answeredBy reports whether m is q's reply. Its parent is the input_request,
// or the request that runs; some clients send none, and then must be who was
// asked.
func (q *question) answeredBy(m *wire.Message) bool {
	var parent wire.Header
	if json.Unmarshal(m.Parent, &parent) == nil && parent.MsgID != "" {
		return parent.MsgID == q.header.MsgID || parent.MsgID == q.from.Header.MsgID
	}
	return slices.EqualFunc(m.Identities, q.from.Identities, slices.Equal)
}
