package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
)

type T struct{ n int }

func (t T) value() string    { return at(0) }
func (t *T) pointer() string { return at(0) }

type list[E any] struct{ e []E }

func (l *list[E]) push(e E) string { return at(0) }

func generic[E any](e E) string { return at(0) }

// at is the place of its caller, and of those that skip passes over.
func at(skip int) string {
	pc, file, line, ok := runtime.Caller(skip + 1)
	if !ok {
		return "nowhere"
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	file2, line2 := runtime.FuncForPC(pc).FileLine(pc - 1)
	return fmt.Sprint(f.Function, " ", filepath.Base(file), ":", line, " ", runtime.FuncForPC(pc).Name() == f.Function, file == file2 && line == line2)
}

// stack are the calls of the program.
func stack() {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.main" || f.Function == "runtime.goexit" {
			break
		}
		if strings.HasPrefix(f.Function, "main.") {
			fmt.Println(f.Function, filepath.Base(f.File), f.Line)
		} else if name, ok := strings.CutPrefix(f.Function, "runtime."); !ok || name == "gopanic" || name[0] < 'a' {
			fmt.Println(f.Function)
		}
		if !more {
			break
		}
	}
	fmt.Println()
}

func small(xs []int, i int) int {
	return xs[i]
}

func panics(xs []int) {
	defer func() {
		stack()
		recover()
	}()
	deep(xs, 3)
}

func deep(xs []int, n int) {
	if n > 0 {
		deep(xs, n-1)
		return
	}
	fmt.Println(small(xs, 9))
}

func names(f any) {
	p := reflect.ValueOf(f).Pointer()
	file, _ := runtime.FuncForPC(p).FileLine(p)
	fmt.Println(runtime.FuncForPC(p).Name(), filepath.Base(file))
}

func each(yield func(int) bool) {
	_ = yield(1) && yield(2)
}

func outer() {
	func() {
		func() {
			fmt.Println(at(0))
		}()
		func() { fmt.Println(at(0)) }()
	}()
	for i := range each {
		fmt.Println(i, at(0))
		func() { fmt.Println(at(0)) }()
	}
	func() { fmt.Println(at(0), at(1)) }()
}

func main() {
	fmt.Println(at(0))
	fmt.Println(T{}.value())
	fmt.Println((&T{}).pointer())
	fmt.Println((&list[int]{}).push(1))
	fmt.Println(generic("x"))
	var i interface{ pointer() string } = &T{}
	fmt.Println(i.pointer())
	m := T{}.value
	fmt.Println(m())
	outer()
	stack()
	defer stack()
	panics([]int{1})
	var nilMap map[string]int
	func() {
		defer func() {
			fmt.Println(recover())
			stack()
		}()
		nilMap["a"] = 1
	}()
	func() {
		defer func() {
			recover()
			stack()
		}()
		defer func() {
			stack()
		}()
		panic("again")
	}()
	shown := false
	sort.Sort(by{[]int{2, 1}, func() {
		if !shown {
			shown = true
			stack()
		}
	}})
	strings.Map(func(r rune) rune {
		if r == 'x' {
			stack()
		}
		return r
	}, "axb")
	done := make(chan bool)
	go func() {
		stack()
		done <- true
	}()
	<-done
	names(names)
	names(each)
	names(func() {})
	names(strings.Map)
	fmt.Println(slices.Equal([]uintptr{reflect.ValueOf(names).Pointer()}, []uintptr{reflect.ValueOf(each).Pointer()}))

	log.SetOutput(os.Stdout)
	log.SetFlags(log.Lshortfile)
	log.Print("print")
	log.Printf("%d", 1)
	log.Println("a", 1)
	log.SetPrefix("prefix ")
	log.Print("more")
	log.SetFlags(log.Lshortfile | log.Lmsgprefix)
	log.Print("more\n")
	func() { log.Output(2, "outer") }()
	l := log.New(os.Stdout, "own ", log.Lshortfile)
	l.Print("print")
	l.Output(1, "output")
	func() {
		defer func() { fmt.Println(recover()) }()
		l.Panicf("%s", "panic")
	}()
	defer l.Print("deferred")

	var b bytes.Buffer
	opts := &slog.HandlerOptions{AddSource: true, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case *slog.Source:
			return slog.String("at", fmt.Sprint(v.Function, " ", filepath.Base(v.File), ":", v.Line))
		}
		if a.Key == "time" {
			return slog.Attr{}
		}
		return a
	}}
	s := slog.New(slog.NewTextHandler(&b, opts))
	s.Info("info", "a", 1)
	s.With("b", 2).Error("error")
	s.LogAttrs(context.Background(), slog.LevelWarn, "attrs", slog.Int("c", 3))
	log.SetFlags(log.Lshortfile)
	slog.SetDefault(s)
	slog.Warn("default")
	log.SetPrefix("")
	log.Print("from log")
	fmt.Print(b.String())

	for line := range strings.Lines(string(debug.Stack())) {
		if name, _, _ := strings.Cut(line, "("); strings.HasPrefix(line, "main.") || strings.HasPrefix(line, "runtime/debug.Stack") {
			fmt.Println(name)
		} else if strings.Contains(line, ":") && !strings.Contains(line, "stack.go") {
			place, _, _ := strings.Cut(filepath.Base(strings.TrimSpace(line)), " ")
			fmt.Println(place)
		}
	}
}

type by struct {
	sort.IntSlice
	f func()
}

func (b by) Less(i, j int) bool {
	b.f()
	return b.IntSlice.Less(i, j)
}
