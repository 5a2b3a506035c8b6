package yaegi

import (
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"reflect"
	"strconv"
)

// Tables of modules.
//
// Generated tables of thousands of numbers take yaegi seconds to compile. The
// host makes those of constants; a long string is written once:
//
//	[3072]uint16{ 0x12, 5: 0x23, ... }
//	host.Table("3/tables.go:1204").([3072]uint16)
//
//	func f() { g(long); g(long) }
//	var text__1 string; func f() { g(text__1); g(text__1) }

const (
	minTable = 32  // elements
	minText  = 200 // bytes
)

// table renders a literal of many constants of a basic type.
func (l *lowering) table(n *ast.CompositeLit) (string, bool) {
	if l.src.path == "" || len(n.Elts) < minTable {
		return "", false
	}
	t := l.typeOf(n)
	var elem types.Type
	size := 0
	switch u := t.Underlying().(type) {
	case *types.Array:
		elem, size = u.Elem(), int(u.Len())
	case *types.Slice:
		elem = u.Elem()
	default:
		return "", false
	}
	basic, ok := l.subst(elem).Underlying().(*types.Basic)
	if !ok || basicTypes[basic.Kind()] == nil {
		return "", false
	}
	values := map[int]constant.Value{}
	at := 0
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			k, exact := constant.Int64Val(constant.ToInt(l.src.info.Types[kv.Key].Value))
			if !exact {
				return "", false
			}
			at, e = int(k), kv.Value
		}
		v := l.src.info.Types[e].Value
		if v == nil {
			return "", false
		}
		values[at] = v
		at++
		size = max(size, at)
	}
	et := basicTypes[basic.Kind()]
	var made reflect.Value
	if _, ok := t.Underlying().(*types.Array); ok {
		made = reflect.New(reflect.ArrayOf(size, et)).Elem()
	} else {
		made = reflect.MakeSlice(reflect.SliceOf(et), size, size)
	}
	for i, v := range values {
		setConstant(made.Index(i), v)
	}
	pos := l.src.fset.PositionFor(n.Pos(), false)
	l.std.mu.Lock()
	key := strconv.Itoa(l.std.modules[l.src.pkg].id) + "/" + filepath.Base(pos.Filename) + ":" + strconv.Itoa(pos.Offset)
	l.std.tables[key] = made
	l.std.mu.Unlock()
	return head(l.typ(t)) + "(" + host("Table") + "(" + quote(key) + ").(" + l.typ(t.Underlying()) + "))", true
}

var basicTypes = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
	types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
}

// setConstant sets v, of a type of basicTypes, to a constant that it can hold.
func setConstant(v reflect.Value, c constant.Value) {
	switch {
	case v.CanInt():
		i, _ := constant.Int64Val(constant.ToInt(c))
		v.SetInt(i)
	case v.CanUint():
		u, _ := constant.Uint64Val(constant.ToInt(c))
		v.SetUint(u)
	case v.CanFloat():
		if v.Kind() == reflect.Float32 { // rounded once
			f, _ := constant.Float32Val(constant.ToFloat(c))
			v.SetFloat(float64(f))
			break
		}
		f, _ := constant.Float64Val(constant.ToFloat(c))
		v.SetFloat(f)
	case v.Kind() == reflect.Bool:
		v.SetBool(constant.BoolVal(c))
	default:
		v.SetString(constant.StringVal(c))
	}
}

// madeTable is a new copy of a table.
func (b *library) madeTable(key string) any {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.tables[key]
	if v.Kind() == reflect.Slice {
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		v = c
	}
	return v.Interface()
}

// longText is a variable for a long string constant of a module.
func (l *lowering) longText(s string) (string, bool) {
	if l.src.path == "" || len(s) < minText {
		return "", false
	}
	key := "text(" + s + ")"
	if n := l.draft.instance(key); n != nil {
		return nameRef(n.id), true
	}
	n := l.add("text", varName)
	n.current = l.numbered("text")
	l.instances[key] = n
	l.pieces = append(l.pieces, &piece{name: n, text: "var " + nameRef(n.id) + " string"})
	l.lazy = append(l.lazy, host("Load")+"(func() { "+nameRef(n.id)+" = "+quote(s)+" })")
	return nameRef(n.id), true
}
