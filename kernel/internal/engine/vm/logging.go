package vm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// Packages log, log/slog and testing tell the place of a call, which they ask
// package runtime for. Their functions are hosted, with the pc of the caller.

// logging are the hosted functions of these packages.
var logging = map[string]func(*Engine) any{
	"log.Output": func(e *Engine) any {
		return func(depth int, s string) error { return e.logOutput(log.Default(), depth, s) }
	},
	"(*log.Logger).Output": func(e *Engine) any { return e.logOutput },
}

func hostLogging() {
	hostLog()
	hostSlog()
	hostTesting()
}

func hostLog() {
	formats := map[string]func(...any) string{"": fmt.Sprint, "ln": fmt.Sprintln}
	ends := map[string]func(*Engine, string){
		"Print": func(*Engine, string) {},
		"Panic": func(_ *Engine, s string) { panic(s) },
		"Fatal": func(e *Engine, _ string) { e.exit(1) },
	}
	for verb, end := range ends {
		say := func(e *Engine, l *log.Logger, s string) {
			e.logOutput(l, 1, s)
			end(e, s)
		}
		for suffix, text := range formats {
			logging["log."+verb+suffix] = func(e *Engine) any {
				return func(a ...any) { say(e, log.Default(), text(a...)) }
			}
			logging["(*log.Logger)."+verb+suffix] = func(e *Engine) any {
				return func(l *log.Logger, a ...any) { say(e, l, text(a...)) }
			}
		}
		logging["log."+verb+"f"] = func(e *Engine) any {
			return func(f string, a ...any) { say(e, log.Default(), fmt.Sprintf(f, a...)) }
		}
		logging["(*log.Logger)."+verb+"f"] = func(e *Engine) any {
			return func(l *log.Logger, f string, a ...any) { say(e, l, fmt.Sprintf(f, a...)) }
		}
	}
}

const logFile = log.Lshortfile | log.Llongfile

// logOutput is the Output method of a logger: depth 1 is the caller.
func (e *Engine) logOutput(l *log.Logger, depth int, s string) error {
	flags, out := l.Flags(), l.Writer()
	toSlog := reflect.TypeOf(out) == handlerWriter
	if flags&logFile == 0 && !toSlog || out == io.Discard {
		return l.Output(depth+1, s)
	}
	var pc uintptr
	if pcs := e.thread().callers(depth); depth > 0 && len(pcs) == depth {
		pc = pcs[depth-1]
	}
	prefix := l.Prefix()
	if flags&log.Lmsgprefix != 0 {
		s, prefix = prefix+s, ""
	}
	if flags&logFile != 0 {
		file, line := "???", 0
		if f, _ := runtime.CallersFrames([]uintptr{pc}).Next(); f.File != "" {
			file, line = f.File, f.Line
		}
		if flags&log.Lshortfile != 0 {
			file = file[strings.LastIndexByte(file, '/')+1:]
		}
		s = file + ":" + strconv.Itoa(line) + ": " + s
	}
	var b bytes.Buffer
	log.New(&b, prefix, flags&^(logFile|log.Lmsgprefix)).Output(1, s)

	mu := (*sync.Mutex)(unexported(l, "outMu"))
	mu.Lock()
	defer mu.Unlock()
	out = *(*io.Writer)(unexported(l, "out"))
	if reflect.TypeOf(out) == handlerWriter {
		return toHandler(reflect.ValueOf(out).UnsafePointer(), b.Bytes(), pc)
	}
	_, err := out.Write(b.Bytes())
	return err
}

// unexported is where a field lies that is not exported.
func unexported[T any](x *T, name string) unsafe.Pointer {
	f, ok := reflect.TypeFor[T]().FieldByName(name)
	if !ok {
		panic(fmt.Sprintf("no field %s in %T", name, *x))
	}
	return unsafe.Add(unsafe.Pointer(x), f.Offset)
}

// handlerWriter is what package slog makes package log write to.
var handlerWriter = reflect.TypeOf(slog.NewLogLogger(slog.DiscardHandler, 0).Writer())

// toHandler is the Write method of a slog.handlerWriter.
func toHandler(w unsafe.Pointer, text []byte, pc uintptr) error {
	get := func(name string) reflect.Value {
		f, _ := handlerWriter.Elem().FieldByName(name)
		return reflect.NewAt(f.Type, unsafe.Add(w, f.Offset)).Elem()
	}
	h, level := get("h").Interface().(slog.Handler), get("level").Interface().(slog.Leveler).Level()
	if !h.Enabled(context.Background(), level) {
		return nil
	}
	if !get("capturePC").Bool() {
		pc = 0
	}
	return h.Handle(context.Background(), slog.NewRecord(time.Now(), level, string(bytes.TrimSuffix(text, []byte{'\n'})), pc))
}

func hostSlog() {
	for name, level := range map[string]slog.Level{"Debug": slog.LevelDebug, "Info": slog.LevelInfo, "Warn": slog.LevelWarn, "Error": slog.LevelError} {
		logging["log/slog."+name] = func(e *Engine) any {
			return func(msg string, args ...any) { e.record(slog.Default(), context.Background(), level, msg, args) }
		}
		logging["log/slog."+name+"Context"] = func(e *Engine) any {
			return func(ctx context.Context, msg string, args ...any) { e.record(slog.Default(), ctx, level, msg, args) }
		}
		logging["(*log/slog.Logger)."+name] = func(e *Engine) any {
			return func(l *slog.Logger, msg string, args ...any) { e.record(l, context.Background(), level, msg, args) }
		}
		logging["(*log/slog.Logger)."+name+"Context"] = func(e *Engine) any {
			return func(l *slog.Logger, ctx context.Context, msg string, args ...any) { e.record(l, ctx, level, msg, args) }
		}
	}
	logging["log/slog.Log"] = func(e *Engine) any {
		return func(ctx context.Context, level slog.Level, msg string, args ...any) {
			e.record(slog.Default(), ctx, level, msg, args)
		}
	}
	logging["log/slog.LogAttrs"] = func(e *Engine) any {
		return func(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
			e.record(slog.Default(), ctx, level, msg, attrs)
		}
	}
	logging["(*log/slog.Logger).Log"] = func(e *Engine) any {
		return func(l *slog.Logger, ctx context.Context, level slog.Level, msg string, args ...any) {
			e.record(l, ctx, level, msg, args)
		}
	}
	logging["(*log/slog.Logger).LogAttrs"] = func(e *Engine) any {
		return func(l *slog.Logger, ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
			e.record(l, ctx, level, msg, attrs)
		}
	}
}

// record is what the logging methods of a slog.Logger do; args are of type any
// or slog.Attr.
func (e *Engine) record(l *slog.Logger, ctx context.Context, level slog.Level, msg string, args any) {
	if ctx == nil {
		ctx = context.Background()
	}
	if !l.Enabled(ctx, level) {
		return
	}
	r := slog.NewRecord(time.Now(), level, msg, e.callerPC())
	switch args := args.(type) {
	case []any:
		r.Add(args...)
	case []slog.Attr:
		r.AddAttrs(args...)
	}
	_ = l.Handler().Handle(ctx, r) // as package slog does
}

// helpers are the functions that called t.Helper, by name: they are passed
// over where a test's place is told.
var helpers sync.Map

// hostTesting hosts the methods that T, B and F have from testing.common, which
// is their first field.
func hostTesting() {
	ends := map[string]struct {
		lines, format string // methods
		end           func(*testing.T)
	}{
		"":        {"Log", "Logf", func(*testing.T) {}},
		"Fail":    {"Error", "Errorf", (*testing.T).Fail},
		"FailNow": {"Fatal", "Fatalf", (*testing.T).FailNow},
		"SkipNow": {"Skip", "Skipf", (*testing.T).SkipNow},
	}
	for _, m := range ends {
		for _, recv := range []string{"common", "T", "B", "F"} {
			logging["(*testing."+recv+")."+m.lines] = func(e *Engine) any {
				return func(t *testing.T, a ...any) {
					e.testLog(t, fmt.Sprintln(a...))
					m.end(t)
				}
			}
			logging["(*testing."+recv+")."+m.format] = func(e *Engine) any {
				return func(t *testing.T, f string, a ...any) {
					e.testLog(t, fmt.Sprintf(f, a...))
					m.end(t)
				}
			}
			logging["(*testing."+recv+").Helper"] = func(e *Engine) any {
				return func(*testing.T) {
					if f := runtime.FuncForPC(e.callerPC()); f != nil {
						helpers.Store(f.Name(), true)
					}
				}
			}
		}
	}
}

// testLog writes what a test logs, with its place.
func (e *Engine) testLog(t *testing.T, s string) {
	const most = 50 // as package testing
	file, line := "???", 1
	frames := runtime.CallersFrames(e.thread().callers(most))
	for {
		f, more := frames.Next()
		if f.File != "" {
			file, line = filepath.Base(f.File), f.Line
		}
		if _, helper := helpers.Load(f.Function); !helper || !more {
			break
		}
	}
	s = strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ")
	fmt.Fprintf(t.Output(), "%s:%d: %s\n", file, line, s)
}
