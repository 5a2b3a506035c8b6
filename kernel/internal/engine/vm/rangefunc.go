package vm

import (
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A loop over a function has a variable jump in go/ssa: 0 before each turn, -1
// during one, -2 when the function has returned after its last turn, and above
// that the number of the statement by which a turn left the loop. Compiled Go
// also notes the function's return in the last case, and says what was wrong by
// runtime errors.

const rangeDone = -2

// jumpOf tells the load by which a function looks how its loop ended.
func jumpOf(v *ssa.UnOp) bool {
	a, ok := v.X.(*ssa.Alloc)
	return ok && strings.HasPrefix(a.Comment, "jump$")
}

// loopEnds compiles that load.
func (k *compiler) loopEnds(v *ssa.UnOp) op {
	z, x := k.slot(v), k.slot(v.X)
	return func(fr *frame) {
		p := *at[*int](fr, x)
		if *at[int](fr, z) = *p; *p > 0 {
			*p = rangeDone
		}
	}
}

// rangePanic compiles the panic of a function that a loop ranges over and that
// does not behave; nil if v is no such panic.
func (k *compiler) rangePanic(v *ssa.Panic) op {
	m, ok := v.X.(*ssa.MakeInterface)
	if !ok {
		return nil
	}
	c, ok := m.X.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.String {
		return nil
	}
	here := k.spot(v.Pos())
	switch block := v.Block().Comment; {
	case block == "rangefunc.resume.busy":
		return func(fr *frame) {
			fr.at = here
			panic(plainError("runtime error: range function recovered a loop body panic and did not resume panicking"))
		}
	case block != "yield-invalid":
		return nil
	}
	for _, f := range k.fn.FreeVars {
		if !strings.HasPrefix(f.Name(), "jump$") || !k.mine(f) {
			continue
		}
		x := k.slot(f)
		return func(fr *frame) {
			fr.at = here
			why := "function for loop body returned false"
			switch **at[*int](fr, x) {
			case -1:
				why = "loop body panic"
			case rangeDone:
				why = "whole loop exit"
			}
			panic(plainError("runtime error: range function continued iteration after " + why))
		}
	}
	return nil
}

// mine tells the jump of the loop whose body the function is from those of loops
// around it: it is looked at first.
func (k *compiler) mine(f *ssa.FreeVar) bool {
	for _, i := range k.fn.Blocks[0].Instrs {
		if u, ok := i.(*ssa.UnOp); ok {
			return u.X == ssa.Value(f)
		}
	}
	return false
}
