package rtype

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, file  string
		first, last int
	}{
		{"main.f", "In[3]", 7, 12},
		{"main.(*T).m.func1", "In[4]", 1, 1},
		{"example.com/m.Long", "example.com/m/long.go", 900, 9000},
	} {
		l := NewLines(c.name, c.file, c.first, c.last)
		f := runtime.FuncForPC(l.Entry)
		if f == nil {
			t.Fatal(c.name, " is not found")
		}
		if file, line := f.FileLine(l.Entry); f.Name() != c.name || f.Entry() != l.Entry || file != c.file || line != c.first {
			t.Errorf("%s begins at %s:%d", f.Name(), file, line)
		}
		for line := c.first; line <= c.last; line++ {
			pc := l.PC(line)
			if file, at := runtime.FuncForPC(pc).FileLine(pc); file != c.file || at != line {
				t.Errorf("%s: line %d is %s:%d", c.name, line, file, at)
			}
			got, more := runtime.CallersFrames([]uintptr{pc}).Next()
			if got.Function != c.name || got.File != c.file || got.Line != line || got.Entry != l.Entry || more {
				t.Errorf("%s: line %d is %+v", c.name, line, got)
			}
		}
		if l.PC(c.first-1) != 0 || l.PC(c.last+1) != 0 {
			t.Error("lines outside have pcs")
		}
	}
	if l := NewLines("main.f", "In[1]", 3, 2); l.PC(3) != 0 {
		t.Error("a function without lines has pcs")
	}
}

// Stacks are walked and memory is collected while functions are added.
func TestLinesTogether(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("main.f%d_%d", i, j)
				l := NewLines(name, "In[1]", 1, 3)
				if j%10 == 0 {
					runtime.GC()
				}
				if got := runtime.FuncForPC(l.PC(2)).Name(); got != name {
					t.Errorf("%s is %s", name, got)
				}
			}
		})
	}
	all.Wait()
}
