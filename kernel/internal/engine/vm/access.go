package vm

import (
	"go/token"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// An access is a variable that an instruction loads or stores, and how it is
// found. Package ssa takes an address step by step and then uses it once; the
// steps and the use are one instruction here.
//
//	p.f  xs[i]  xs[i].f  xs[i][j]  p.f[i]  a[i]
type access struct {
	way      way
	x        uintptr // slot of the pointer or slice
	i, j     uintptr // slots of the indices
	off      uintptr // of the field
	size     uintptr // of an element
	length   int     // of an array
	here     int32
	then     int32 // place of the second step
	unsigned [2]bool
}

type way uint8

const (
	deref        way = iota // *p
	field                   // p.f
	element                 // xs[i]
	elementField            // xs[i].f
	element2                // xs[i][j]
	fieldElement            // p.f[i], of a slice
	arrayElement            // p[i] and p.f[i], of an array
)

// path is an access in terms of package ssa.
type path struct {
	way    way
	x      ssa.Value
	i, j   ssa.Value
	off    uintptr
	size   uintptr
	length int
	last   ssa.Value // the address
	n      int       // of instructions
	second int       // the instruction of the second step
	blank  bool      // the field is the blank one
}

// pathOf is the path that begins a block's rest, without its use.
func (k *compiler) pathOf(is []ssa.Instruction) (p path, ok bool) {
	switch i := is[0].(type) {
	case *ssa.FieldAddr:
		if _, direct := k.direct(i); direct {
			return p, false
		}
		p = path{way: field, x: i.X, last: i}
		n := k.fields(&p, i, is)
		if load := loadAt(is, n); load != nil && load.X == p.last && only(p.last) && only(load) && k.typ(load).Kind() == reflect.Slice {
			if a, isIndex := instrAt(is, n+1).(*ssa.IndexAddr); isIndex && a.X == ssa.Value(load) {
				p.way, p.i, p.size, p.last, p.second, p.n = fieldElement, a.Index, k.typ(load).Elem().Size(), a, n+1, n+2
				return p, true
			}
		}
		if a, isIndex := instrAt(is, n).(*ssa.IndexAddr); isIndex && a.X == p.last && only(p.last) {
			t := k.typ(p.last).Elem()
			p.way, p.i, p.size, p.length, p.last, p.second, p.n = arrayElement, a.Index, t.Elem().Size(), t.Len(), a, n, n+1
			return p, true
		}
		p.n = n
		return p, true
	case *ssa.IndexAddr:
		if _, direct := k.direct(i); direct {
			return p, false
		}
		t := k.typ(i.X)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
			return path{way: arrayElement, x: i.X, i: i.Index, size: t.Elem().Size(), length: t.Len(), last: i, n: 1}, true
		}
		p = path{way: element, x: i.X, i: i.Index, size: t.Elem().Size(), last: i, n: 1}
		if f, isField := instrAt(is, 1).(*ssa.FieldAddr); isField && f.X == ssa.Value(i) && only(i) {
			p.way, p.last = elementField, f
			p.n = 1 + k.fields(&p, f, is[1:])
			return p, true
		}
		if load := loadAt(is, 1); load != nil && load.X == ssa.Value(i) && only(i) && only(load) && t.Elem().Kind() == reflect.Slice {
			if a, isIndex := instrAt(is, 2).(*ssa.IndexAddr); isIndex && a.X == ssa.Value(load) {
				p.way, p.j, p.size, p.last, p.second, p.n = element2, a.Index, t.Elem().Elem().Size(), a, 2, 3
			}
		}
		return p, true
	}
	return p, false
}

// fields follows the fields of fields from f on, the first of is, and returns
// how many there are.
func (k *compiler) fields(p *path, f *ssa.FieldAddr, is []ssa.Instruction) int {
	for n := 0; ; {
		s := k.typ(f.X).Elem().Field(f.Field)
		p.off += s.Offset
		p.blank = s.Name == "_"
		p.last = f
		n++
		g, ok := instrAt(is, n).(*ssa.FieldAddr)
		if !ok || g.X != ssa.Value(f) || !only(f) {
			return n
		}
		f = g
	}
}

func instrAt(is []ssa.Instruction, n int) ssa.Instruction {
	if n < len(is) {
		return is[n]
	}
	return nil
}

func loadAt(is []ssa.Instruction, n int) *ssa.UnOp {
	if u, ok := instrAt(is, n).(*ssa.UnOp); ok && u.Op == token.MUL {
		return u
	}
	return nil
}

// only reports whether a value is used once.
func only(v ssa.Value) bool { return len(*v.Referrers()) == 1 }

// same reports whether two paths lead to one variable.
func (p path) same(q path) bool {
	return p.way == q.way && sameValue(p.x, q.x) && sameValue(p.i, q.i) && sameValue(p.j, q.j) && p.off == q.off && p.size == q.size
}

func sameValue(x, y ssa.Value) bool {
	if x == y {
		return true
	}
	c, ok1 := x.(*ssa.Const)
	d, ok2 := y.(*ssa.Const)
	return ok1 && ok2 && c.Value != nil && d.Value != nil && c.Value.ExactString() == d.Value.ExactString()
}

// access compiles a path: the conversions of its indices, and its places.
func (k *compiler) access(p path, is []ssa.Instruction) access {
	a := access{way: p.way, x: k.slot(p.x), off: p.off, size: p.size, length: p.length}
	k.note(is[0])
	a.here = k.spot(k.near)
	a.then = a.here
	if p.second > 0 {
		for _, i := range is[1 : p.second+1] {
			k.note(i)
		}
		a.then = k.spot(k.near)
	}
	if p.i != nil {
		a.i, a.unsigned[0] = k.integer(p.i), k.unsigned(p.i)
	}
	if p.j != nil {
		a.j, a.unsigned[1] = k.integer(p.j), k.unsigned(p.j)
	}
	return a
}

//go:generate go run gen.go

// loadOp copies a variable into a slot.
func (a *access) loadOp(t reflect.Type, z uintptr) op {
	switch how := kindOf(t); how {
	case copyNone:
		return a.zeroSized()
	case copy1:
		return accessLoad[uint8](a, z)
	case copy2:
		return accessLoad[uint16](a, z)
	case copy4:
		return accessLoad[uint32](a, z)
	case copy8:
		return accessLoad[uint64](a, z)
	case copyPointer:
		return accessLoad[unsafe.Pointer](a, z)
	case copyString:
		return accessLoad[string](a, z)
	case copySlice:
		return accessLoad[[]byte](a, z)
	case copyInterface:
		return accessLoad[[2]unsafe.Pointer](a, z)
	case copy16:
		return accessLoad[[2]uint64](a, z)
	case copy24:
		return accessLoad[[3]uint64](a, z)
	case copy32:
		return accessLoad[[4]uint64](a, z)
	case copyStrings:
		return accessLoad[[2]string](a, z)
	default:
		rt, address := rtype.Of(t), a.address()
		return func(fr *frame) { copyValue(how, rt, slot(fr, z), address(fr)) }
	}
}

// storeOp copies a slot into a variable.
func (a *access) storeOp(t reflect.Type, z uintptr) op {
	switch how := kindOf(t); how {
	case copyNone:
		return a.zeroSized()
	case copy1:
		return accessStore[uint8](a, z)
	case copy2:
		return accessStore[uint16](a, z)
	case copy4:
		return accessStore[uint32](a, z)
	case copy8:
		return accessStore[uint64](a, z)
	case copyPointer:
		return accessStore[unsafe.Pointer](a, z)
	case copyString:
		return accessStore[string](a, z)
	case copySlice:
		return accessStore[[]byte](a, z)
	case copyInterface:
		return accessStore[[2]unsafe.Pointer](a, z)
	case copy16:
		return accessStore[[2]uint64](a, z)
	case copy24:
		return accessStore[[3]uint64](a, z)
	case copy32:
		return accessStore[[4]uint64](a, z)
	case copyStrings:
		return accessStore[[2]string](a, z)
	default:
		rt, address := rtype.Of(t), a.address()
		return func(fr *frame) { copyValue(how, rt, address(fr), slot(fr, z)) }
	}
}

func (a *access) zeroSized() op {
	address := a.address()
	return func(fr *frame) { address(fr) }
}

// updateOp compiles v op= y; nil if there is no such instruction.
func (a *access) updateOp(o token.Token, t reflect.Type, z uintptr) op {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return accessUpdate[uint64](a, o, z)
	case reflect.Int32, reflect.Uint32:
		return accessUpdate[uint32](a, o, z)
	case reflect.Int8, reflect.Uint8:
		return accessUpdate[uint8](a, o, z)
	case reflect.Float64:
		return accessUpdate[float64](a, o, z)
	case reflect.Float32:
		return accessUpdate[float32](a, o, z)
	}
	return nil
}

func accessUpdate[T integer | float](a *access, o token.Token, z uintptr) op {
	switch o {
	case token.ADD:
		return accessAdd[T](a, z)
	case token.SUB:
		return accessSub[T](a, z)
	case token.MUL:
		return accessMul[T](a, z)
	}
	return nil
}
