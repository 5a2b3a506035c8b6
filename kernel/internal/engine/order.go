package engine

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"time"

	"golang.org/x/sys/unix"
)

// A cell's two outputs are two pipes with one reader, which cannot tell what
// was written first of what it finds in both. So who writes to one of them
// waits until the other is empty: fmt, log and log/slog do, by Ordered, and
// print. Of what writes by itself, C code and os/exec say, lines that alternate
// within microseconds may come grouped by stream.

// maxDrain is how long a reader may take. One that has a processor takes less
// than a tenth of a millisecond; one that was stopped shall not stop the cell.
const maxDrain = 50 * time.Millisecond

// drain waits until the pipe of a file descriptor is empty.
func drain(fd int) {
	if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil || n == 0 {
		return // nearly always
	}
	for end := time.Now().Add(maxDrain); ; time.Sleep(20 * time.Microsecond) {
		if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil || n == 0 || time.Now().After(end) {
			return
		}
	}
}

// turn makes it the turn of what w is, if that is one of the two outputs.
func turn(w io.Writer) {
	switch w {
	case io.Writer(os.Stdout):
		drain(2)
	case io.Writer(os.Stderr):
		drain(1)
	}
}

// Write and WriteString are the methods of an *os.File, in turn.
func Write(f *os.File, b []byte) (int, error) { turn(f); return f.Write(b) }

func WriteString(f *os.File, s string) (int, error) { turn(f); return f.WriteString(s) }

// inTurn is an output for what keeps its writer.
type inTurn struct{ f *os.File }

func (w inTurn) Write(b []byte) (int, error) { return Write(w.f, b) }

// ordered is w, in turn if it is one of the two outputs.
func ordered(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && f != nil && (f == os.Stdout || f == os.Stderr) {
		return inTurn{f}
	}
	return w
}

// Ordered returns symbols whose packages fmt, log and log/slog keep the order of
// a cell's two outputs. It makes package log of this process do so, too.
func Ordered(s Symbols) Symbols {
	log.SetOutput(ordered(os.Stderr))
	return orderedSymbols{s}
}

type orderedSymbols struct{ Symbols }

func (s orderedSymbols) Table(path string) map[string]reflect.Value {
	t := s.Symbols.Table(path)
	if with := inOrder[path]; t != nil && with != nil {
		t = maps.Clone(t)
		for name, f := range with {
			t[name] = reflect.ValueOf(f)
		}
	}
	return t
}

var inOrder = map[string]map[string]any{
	"fmt": {
		"Print":    func(a ...any) (int, error) { turn(os.Stdout); return fmt.Print(a...) },
		"Printf":   func(format string, a ...any) (int, error) { turn(os.Stdout); return fmt.Printf(format, a...) },
		"Println":  func(a ...any) (int, error) { turn(os.Stdout); return fmt.Println(a...) },
		"Fprint":   func(w io.Writer, a ...any) (int, error) { turn(w); return fmt.Fprint(w, a...) },
		"Fprintf":  func(w io.Writer, format string, a ...any) (int, error) { turn(w); return fmt.Fprintf(w, format, a...) },
		"Fprintln": func(w io.Writer, a ...any) (int, error) { turn(w); return fmt.Fprintln(w, a...) },
	},
	"io": {
		"WriteString": func(w io.Writer, s string) (int, error) { turn(w); return io.WriteString(w, s) },
	},
	"log": {
		"New":       func(w io.Writer, prefix string, flag int) *log.Logger { return log.New(ordered(w), prefix, flag) },
		"SetOutput": func(w io.Writer) { log.SetOutput(ordered(w)) },
	},
	"log/slog": {
		"NewTextHandler": func(w io.Writer, opts *slog.HandlerOptions) *slog.TextHandler {
			return slog.NewTextHandler(ordered(w), opts)
		},
		"NewJSONHandler": func(w io.Writer, opts *slog.HandlerOptions) *slog.JSONHandler {
			return slog.NewJSONHandler(ordered(w), opts)
		},
	},
}
