package llm

import (
	"fmt"
	"html"
	"strings"
)

// String describes the model in one line.
func (m *Model) String() string {
	i := m.Info()
	return fmt.Sprintf("%s: %s, %s parameters, %s, %s, vocabulary %d, trained on %d tokens of context",
		i.Name, i.Architecture, count(i.Parameters), i.Quantisation, size(i.Bytes), i.Vocabulary, i.ContextTrain)
}

// String describes what the session holds in one line.
func (s *Session) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "session of " + s.model.info.Name + ": closed"
	}
	return fmt.Sprintf("session of %s: %d open branches in %d of %d cells", s.model.info.Name, len(s.branches), s.used, s.cells)
}

// MIMEBundle shows the model in a notebook.
func (m *Model) MIMEBundle() map[string]any {
	rows := m.summary()
	var text, table strings.Builder
	table.WriteString(`<table style="text-align:left">`)
	for _, r := range rows {
		fmt.Fprintf(&text, "%-12s %s\n", r[0], r[1])
		fmt.Fprintf(&table, `<tr><th style="text-align:left">%s</th><td style="text-align:left">%s</td></tr>`, html.EscapeString(r[0]), html.EscapeString(r[1]))
	}
	table.WriteString("</table>")
	return map[string]any{"text/plain": strings.TrimSuffix(text.String(), "\n"), "text/html": table.String()}
}

// summary is what is worth knowing of the model, as name and value.
func (m *Model) summary() [][2]string {
	i, e := m.Info(), m.Engine()
	var ends []string
	for _, t := range m.Ends() {
		ends = append(ends, fmt.Sprintf("%s (%d)", m.Piece(t), t))
	}
	rows := [][2]string{
		{"model", i.Name},
		{"file", fmt.Sprintf("%s, %s", i.Path, size(i.Bytes))},
		{"weights", fmt.Sprintf("%s, %s parameters, %s", i.Architecture, count(i.Parameters), i.Quantisation)},
		{"vocabulary", fmt.Sprintf("%d tokens; ends: %s", i.Vocabulary, strings.Join(ends, " "))},
		{"context", fmt.Sprintf("%d tokens in training, %d in a session", i.ContextTrain, e.Context)},
		{"chat", map[bool]string{true: "has a template", false: "no template: a base model, for Raw(text)"}[m.Template() != ""]},
		{"engine", fmt.Sprintf("%s %s, %s build, %s, up to %d threads", e.Name, e.Commit, e.Build, e.CPU, e.Threads)},
	}
	for _, w := range m.Warnings() {
		rows = append(rows, [2]string{"warning", w})
	}
	return rows
}

// count writes a large number with three digits: 134515008 is "135M".
func count(n int64) string {
	for _, u := range []struct {
		by   float64
		name string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}} {
		if x := float64(n) / u.by; x >= 0.9995 {
			return fmt.Sprintf("%.3g%s", x, u.name)
		}
	}
	return fmt.Sprint(n)
}

// size writes bytes in decimal units.
func size(n int64) string {
	for _, u := range []struct {
		by   float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}} {
		if x := float64(n) / u.by; x >= 0.9995 {
			return fmt.Sprintf("%.3g %s", x, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
