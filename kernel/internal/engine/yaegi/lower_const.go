package yaegi

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strconv"
	"strings"
)

// Constants.
//
// yaegi's constant arithmetic is not exact and loses types. Every constant
// expression becomes a literal of its type, and declarations of constants go.
//
//	const big = 1 << 62; x := uint64(big) * 2
//	x := uint64(9223372036854775808)

// index notes a constant index of an array or slice literal, or a length,
// which yaegi wants without a type.
func (l *lowering) index(of ast.Node, e ast.Expr) {
	if c, ok := of.(*ast.CompositeLit); ok {
		if _, ok := deref(l.typeOf(c)).Underlying().(*types.Map); ok {
			return
		}
	}
	if e != nil {
		l.indices[e] = true
	}
}

// fold gives a constant expression as a typed literal.
func (l *lowering) fold(e ast.Expr) (string, bool) {
	tv, ok := l.src.info.Types[e]
	if !ok || tv.Value == nil || tv.IsType() {
		return "", false
	}
	t := l.subst(tv.Type)
	if l.indices[e] {
		if v := constant.ToInt(tv.Value); v.Kind() == constant.Int {
			return v.ExactString(), true
		}
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		if types.IsInterface(t) { // a constant that becomes an interface
			return l.foldDefault(tv.Value)
		}
		return "", false
	}
	if lit, ok := e.(*ast.BasicLit); ok {
		if b.Info()&types.IsUntyped != 0 {
			return "", false
		}
		def := map[token.Token]types.BasicKind{token.INT: types.Int, token.FLOAT: types.Float64, token.STRING: types.String, token.CHAR: types.Int32, token.IMAG: types.Complex128}[lit.Kind]
		if types.Unalias(t) == types.Typ[def] {
			return "", false
		}
	}
	if id, ok := e.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") && l.src.info.Uses[id].Pkg() == nil {
		if _, named := types.Unalias(t).(*types.Named); !named {
			return id.Name, true
		}
	}
	return l.literal(tv.Value, t)
}

func (l *lowering) foldDefault(v constant.Value) (string, bool) {
	k := map[constant.Kind]types.BasicKind{constant.Bool: types.Bool, constant.String: types.String, constant.Int: types.Int, constant.Float: types.Float64, constant.Complex: types.Complex128}[v.Kind()]
	return l.literal(v, types.Typ[k])
}

// literal writes value v of type t.
func (l *lowering) literal(v constant.Value, t types.Type) (string, bool) {
	b, def := t.Underlying().(*types.Basic), types.Default(t)
	plain := func(k types.BasicKind) bool { return types.Unalias(def) == types.Typ[k] }
	bare := ""
	switch i := b.Info(); {
	case i&types.IsBoolean != 0:
		if bare = strconv.FormatBool(constant.BoolVal(v)); plain(types.Bool) {
			return bare, true
		}
	case i&types.IsString != 0:
		if text, ok := l.longText(constant.StringVal(v)); ok {
			bare = text
		} else {
			bare = quote(constant.StringVal(v))
		}
		if plain(types.String) {
			return bare, true
		}
	case i&types.IsInteger != 0:
		v := constant.ToInt(v)
		if v.Kind() != constant.Int {
			return "", false
		}
		bare = v.ExactString()
		if _, exact := constant.Int64Val(v); !exact {
			if b.Info()&types.IsUntyped != 0 {
				return "", false
			}
			// yaegi reads literals as int64
			u, _ := constant.Uint64Val(v)
			bare = fmt.Sprintf("%s(%d, %d)", host("Wide"), u>>32, u&math.MaxUint32)
		}
		if plain(types.Int) {
			if strings.HasPrefix(bare, "-") {
				bare = "(" + bare + ")"
			}
			return bare, true
		}
	case i&types.IsFloat != 0:
		var ok bool
		if bare, ok = floatLit(v); !ok {
			return "", false
		}
	case i&types.IsComplex != 0:
		re, ok1 := floatLit(constant.Real(v))
		im, ok2 := floatLit(constant.Imag(v))
		if !ok1 || !ok2 {
			return "", false
		}
		if bare = host("Complex") + "(" + re + ", " + im + ")"; plain(types.Complex128) {
			return bare, true
		}
	default:
		return "", false
	}
	return head(l.typ(def)) + "(" + bare + ")", true
}

// quote writes a string literal, byte by byte where it is not UTF-8.
func quote(s string) string {
	if strings.ToValidUTF8(s, "") == s {
		return strconv.Quote(s)
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		fmt.Fprintf(&b, "\\x%02x", s[i])
	}
	b.WriteByte('"')
	return b.String()
}

func floatLit(v constant.Value) (string, bool) {
	f, _ := constant.Float64Val(constant.ToFloat(v))
	if math.IsInf(f, 0) {
		return "", false
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s, true
}
