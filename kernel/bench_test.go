package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// BenchmarkStart is from the start of the process to the first
// kernel_info_reply. The target is 100 ms.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		k := start(b)
		k.Send("shell", "kernel_info_request", struct{}{}).Reply(nil)
		b.StopTimer()
		k.Send("control", "shutdown_request", map[string]any{"restart": false}).Reply(nil)
		k.Exited()
		b.StartTimer()
	}
}

// BenchmarkFirstCell is from the start of the process to the end of its first
// cell.
func BenchmarkFirstCell(b *testing.B) {
	for b.Loop() {
		k := start(b)
		cell(k, "1 + 1")
		b.StopTimer()
		k.Send("control", "shutdown_request", map[string]any{"restart": false}).Reply(nil)
		k.Exited()
		b.StartTimer()
	}
}

// cell runs a cell to its idle.
func cell(k *kerneltest.Kernel, code string) {
	r := k.Execute(code)
	r.Reply(nil)
	r.UntilIdle()
}

// BenchmarkOneLineCell is a cell from its request to its idle. The target is
// 2 ms.
func BenchmarkOneLineCell(b *testing.B) {
	for name, code := range map[string]string{"a value": "1 + 1", "a declaration": "x := 1", "a line printed": `fmt.Println("hi")`} {
		b.Run(name, func(b *testing.B) {
			k := start(b)
			cell(k, code)
			for b.Loop() {
				cell(k, code)
			}
		})
	}
}

// BenchmarkOneLineCellAmong500Names is the same in a notebook of 500 functions
// and variables.
func BenchmarkOneLineCellAmong500Names(b *testing.B) {
	k := start(b)
	var names strings.Builder
	for i := range 250 {
		fmt.Fprintf(&names, "var v%d = %d\nfunc f%d() int { return v%d }\n", i, i, i, i)
	}
	cell(k, names.String())
	for b.Loop() {
		cell(k, "f100() + v100")
	}
}

// BenchmarkHundredThousandLines is a cell that prints them.
func BenchmarkHundredThousandLines(b *testing.B) {
	k := start(b)
	for b.Loop() {
		cell(k, "for i := range 100000 { fmt.Println(i) }")
	}
}

// BenchmarkComplete is one completion of a package's member.
func BenchmarkComplete(b *testing.B) {
	k := start(b)
	cell(k, "x := 1")
	for b.Loop() {
		r := k.Send("shell", "complete_request", map[string]any{"code": "fmt.Pri", "cursor_pos": 7})
		r.Reply(nil)
		r.UntilIdle()
	}
}
