package vm

import (
	"go/token"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// Ends of blocks. A block that jumps goes on with a copy of a short one that it
// jumps to, so that a turn of a small loop is one block. A branch makes its
// comparison itself, looks whether the cell is to end where it closes a loop,
// and adds to the variable that it compares, as loops do that count.

// condition is how a block's branch is decided.
type condition struct {
	op       token.Token
	kind     reflect.Kind
	x, y     uintptr
	constant bool // y is n
	n        int
	yes, no  *block
}

// increment is the addition of a constant to an int.
type increment struct {
	x uintptr
	n int
}

// adds keeps the increment that is emitted next.
func (k *compiler) adds(x uintptr, n int) {
	k.added, k.addedAt = increment{x, n}, len(k.ops)+1
}

// lastAdd is the last instruction of the block, if it is an increment.
func (k *compiler) lastAdd() *increment {
	if k.addedAt != len(k.ops) || k.addedAt == 0 {
		return nil
	}
	a := k.added
	return &a
}

// fused reports whether a comparison is made by the branch after it.
func (k *compiler) fused(instr ssa.Instruction) bool {
	c, ok := instr.(*ssa.BinOp)
	if !ok || len(*c.Referrers()) != 1 {
		return false
	}
	i, ok := (*c.Referrers())[0].(*ssa.If)
	if !ok || i.Block() != c.Block() {
		return false
	}
	switch c.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return false
	}
	switch kind := k.typ(c.X).Kind(); kind {
	case reflect.Interface:
		y, ok := c.Y.(*ssa.Const)
		return ok && y.Value == nil
	case reflect.Float32, reflect.Complex64, reflect.Complex128, reflect.String, reflect.Struct, reflect.Array:
		return false
	}
	return true
}

// condition is that of a fused comparison.
func (k *compiler) condition(c *ssa.BinOp, yes, no *block) *condition {
	r := &condition{op: c.Op, kind: k.typ(c.X).Kind(), x: k.slot(c.X), yes: yes, no: no}
	switch r.kind {
	case reflect.Int64:
		r.kind = reflect.Int
	case reflect.Uint64, reflect.Uintptr:
		r.kind = reflect.Uint
	case reflect.Bool:
		r.kind = reflect.Uint8
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func, reflect.Slice, reflect.Interface:
		r.kind = reflect.Uint // their first word
	}
	if n, ok := c.Y.(*ssa.Const); ok {
		switch {
		case n.Value == nil:
			r.constant = true
		case r.kind == reflect.Int:
			r.constant, r.n = true, int(n.Int64())
		case r.kind == reflect.Uint8 && k.typ(c.X).Kind() == reflect.Uint8:
			r.constant, r.n = true, int(n.Int64())
		}
	}
	if !r.constant {
		r.y = k.slot(c.Y)
	}
	return r
}

// shortBlock is how many instructions of a block are copied to the end of
// others that jump to it.
const shortBlock = 6

// link gives the blocks their next functions.
func (k *compiler) link() {
	for _, b := range k.made {
		for hops := 0; b.jump != nil && hops < 4; hops++ {
			to := b.jump
			if to == b || len(to.ops) > shortBlock {
				break
			}
			if len(to.ops) > 0 {
				b.ops = append(b.ops[:len(b.ops):len(b.ops)], to.ops...)
				b.add = to.add
			}
			b.jump, b.cond, b.next, b.back = to.jump, to.cond, to.next, b.back || to.back
		}
	}
	for _, b := range k.made {
		switch {
		case b.cond != nil && b.add != nil && b.cond.kind == reflect.Int && b.cond.x == b.add.x:
			b.ops = b.ops[:len(b.ops)-1]
			b.next = b.cond.counting(b.add.n)
		case b.cond != nil && b.back:
			b.next = b.cond.looping()
		case b.cond != nil:
			b.next = b.cond.branch()
		case b.jump != nil && b.back:
			to := b.jump
			b.next = func(fr *frame) *block {
				fr.look()
				return to
			}
		case b.jump != nil:
			to := b.jump
			b.next = func(*frame) *block { return to }
		}
	}
}

// look ends the frame's goroutine if the cell is to end.
func (fr *frame) look() {
	if fr.t.run.attend.Load() {
		fr.t.step()
	}
}

// simple turns a comparison of whole numbers into one by <, ≤ or ==.
func (c condition) simple() condition {
	switch c.op {
	case token.NEQ:
		c.op, c.yes, c.no = token.EQL, c.no, c.yes
	case token.GEQ:
		c.op, c.yes, c.no = token.LSS, c.no, c.yes
	case token.GTR:
		c.op, c.yes, c.no = token.LEQ, c.no, c.yes
	}
	return c
}

// branch decides.
func (c *condition) branch() func(*frame) *block {
	switch c.kind {
	case reflect.Int:
		return decide[int](c.simple())
	case reflect.Int8:
		return decide[int8](c.simple())
	case reflect.Int16:
		return decide[int16](c.simple())
	case reflect.Int32:
		return decide[int32](c.simple())
	case reflect.Uint8:
		return decide[uint8](c.simple())
	case reflect.Uint16:
		return decide[uint16](c.simple())
	case reflect.Uint32:
		return decide[uint32](c.simple())
	case reflect.Uint:
		return decide[uint64](c.simple())
	}
	d := *c // comparisons with NaN are false: the branches do not change places
	switch c.op {
	case token.NEQ:
		d.op, d.yes, d.no = token.EQL, c.no, c.yes
	case token.GTR:
		d.op, d.x, d.y = token.LSS, c.y, c.x
	case token.GEQ:
		d.op, d.x, d.y = token.LEQ, c.y, c.x
	}
	return decide[float64](d)
}

func decide[T ordered](c condition) func(*frame) *block {
	x, y, yes, no := c.x, c.y, c.yes, c.no
	if c.constant {
		n := *(*T)(unsafe.Pointer(&c.n))
		switch c.op {
		case token.LSS:
			return func(fr *frame) *block {
				if *at[T](fr, x) < n {
					return yes
				}
				return no
			}
		case token.LEQ:
			return func(fr *frame) *block {
				if *at[T](fr, x) <= n {
					return yes
				}
				return no
			}
		}
		return func(fr *frame) *block {
			if *at[T](fr, x) == n {
				return yes
			}
			return no
		}
	}
	switch c.op {
	case token.LSS:
		return func(fr *frame) *block {
			if *at[T](fr, x) < *at[T](fr, y) {
				return yes
			}
			return no
		}
	case token.LEQ:
		return func(fr *frame) *block {
			if *at[T](fr, x) <= *at[T](fr, y) {
				return yes
			}
			return no
		}
	}
	return func(fr *frame) *block {
		if *at[T](fr, x) == *at[T](fr, y) {
			return yes
		}
		return no
	}
}

// looping is branch at the end of a loop.
func (c *condition) looping() func(*frame) *block {
	if c.kind != reflect.Int {
		branch := c.branch()
		return func(fr *frame) *block {
			fr.look()
			return branch(fr)
		}
	}
	return c.counting(0)
}

// counting adds to the variable that is compared, and looks whether the cell is
// to end.
func (c *condition) counting(add int) func(*frame) *block {
	d := c.simple()
	x, y, n, yes, no := d.x, d.y, d.n, d.yes, d.no
	if d.constant {
		switch d.op {
		case token.LSS:
			return func(fr *frame) *block {
				fr.look()
				i := at[int](fr, x)
				if *i += add; *i < n {
					return yes
				}
				return no
			}
		case token.LEQ:
			return func(fr *frame) *block {
				fr.look()
				i := at[int](fr, x)
				if *i += add; *i <= n {
					return yes
				}
				return no
			}
		}
		return func(fr *frame) *block {
			fr.look()
			i := at[int](fr, x)
			if *i += add; *i == n {
				return yes
			}
			return no
		}
	}
	switch d.op {
	case token.LSS:
		return func(fr *frame) *block {
			fr.look()
			i := at[int](fr, x)
			if *i += add; *i < *at[int](fr, y) {
				return yes
			}
			return no
		}
	case token.LEQ:
		return func(fr *frame) *block {
			fr.look()
			i := at[int](fr, x)
			if *i += add; *i <= *at[int](fr, y) {
				return yes
			}
			return no
		}
	}
	return func(fr *frame) *block {
		fr.look()
		i := at[int](fr, x)
		if *i += add; *i == *at[int](fr, y) {
			return yes
		}
		return no
	}
}
