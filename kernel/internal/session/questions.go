package session

import (
	"github.com/branchbook/branchbook/kernel/internal/wire"
)

func (s *Session) complete(ch wire.Channel, m *wire.Message) {
	var req wire.CompleteRequest
	if !s.decode(ch, m, "complete_reply", &req) {
		return
	}
	c := s.nb.Complete(req.Code, wire.Cursor(req.Code, req.CursorPos))
	matches, types := []string{}, []wire.CompletionType{}
	for _, match := range c.Matches {
		matches = append(matches, match.Text)
		types = append(types, wire.CompletionType{
			Text: match.Text, Type: match.Kind, Signature: match.Detail, Start: c.Start, End: c.End,
		})
	}
	s.reply(ch, m, "complete_reply", wire.CompleteReply{
		Status: "ok", Matches: matches, CursorStart: c.Start, CursorEnd: c.End,
		Metadata: map[string]any{"_jupyter_types_experimental": types},
	})
}

func (s *Session) inspect(ch wire.Channel, m *wire.Message) {
	var req wire.InspectRequest
	if !s.decode(ch, m, "inspect_reply", &req) {
		return
	}
	reply := wire.InspectReply{Status: "ok", Data: map[string]any{}, Metadata: map[string]any{}}
	if text, found := s.nb.Inspect(req.Code, wire.Cursor(req.Code, req.CursorPos), req.DetailLevel > 0); found {
		reply.Found = true
		reply.Data["text/plain"] = text
	}
	s.reply(ch, m, "inspect_reply", reply)
}

func (s *Session) isComplete(ch wire.Channel, m *wire.Message) {
	var req wire.IsCompleteRequest
	if !s.decode(ch, m, "is_complete_reply", &req) {
		return
	}
	status, indent := s.nb.IsComplete(req.Code)
	s.reply(ch, m, "is_complete_reply", wire.IsCompleteReply{Status: status, Indent: indent})
}

func (s *Session) recall(ch wire.Channel, m *wire.Message) {
	var req wire.HistoryRequest
	if !s.decode(ch, m, "history_reply", &req) {
		return
	}
	reply := wire.HistoryReply{Status: "ok", History: [][3]any{}}
	for _, e := range s.cfg.History.Find(req) {
		var entry any = e.Input
		if req.Output {
			entry = [2]any{e.Input, e.Output}
		}
		reply.History = append(reply.History, [3]any{e.Session, e.Line, entry})
	}
	s.reply(ch, m, "history_reply", reply)
}

// refuseDebug says that there is no debugger, as kernel_info does.
func (s *Session) refuseDebug(ch wire.Channel, m *wire.Message) {
	var req wire.DebugRequest
	if !s.decode(ch, m, "debug_reply", &req) {
		return
	}
	s.reply(ch, m, "debug_reply", wire.DebugReply{
		Type: "response", RequestSeq: req.Seq, Command: req.Command, Message: "this kernel has no debugger",
	})
}
