package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Ranges over functions.
//
// The body becomes the yield function. What leaves the body becomes a code in
// a state variable, and false: -1 breaks, -2 returns, n > 0 is the n-th jump
// out of an outer construct.
//
//	for x := range seq { if x > 3 { break }; if x > 2 { return x } }
//	{ st__1 := 0; sq__2 := seq
//	  sq__2(func(x int) bool {
//		if x > 3 { { st__1 = -1; return false } }
//		if x > 2 { { rv0 = x; st__1 = -2; return false } }
//		return true })
//	  if st__1 == -2 { return rv0 } }

func (l *lowering) isSeq(r *ast.RangeStmt) bool {
	_, ok := l.typeOf(r.X).Underlying().(*types.Signature)
	return ok
}

func (l *lowering) innerSeq(top int) *frame {
	for k := top - 1; k >= 0 && !l.stack[k].fn; k-- {
		if l.stack[k].seq {
			return l.stack[k]
		}
	}
	return nil
}

// target finds what a break or continue is about, seen from stack[:top].
func (l *lowering) target(tok token.Token, label string, top int) int {
	for k := top - 1; k >= 0; k-- {
		f := l.stack[k]
		if f.fn {
			return -1
		}
		if label != "" && f.label == label || label == "" && (f.loop || tok == token.BREAK) {
			return k
		}
	}
	return -1
}

func (l *lowering) branch(tok token.Token, label string, top int) string {
	plain := tok.String()
	if label != "" {
		plain += " " + label
	}
	if tok == token.FALLTHROUGH || tok == token.GOTO {
		return plain
	}
	k := l.target(tok, label, top)
	if k < 0 {
		return plain
	}
	// the innermost range function between here and the target
	for j := top - 1; j >= k; j-- {
		f := l.stack[j]
		if !f.seq {
			continue
		}
		if j == k {
			if tok == token.CONTINUE {
				return "return true"
			}
			return "{ " + f.state + " = -1; return false }"
		}
		*f.exits = append(*f.exits, l.branch(tok, label, j))
		return fmt.Sprintf("{ %s = %d; return false }", f.state, len(*f.exits))
	}
	if tok == token.CONTINUE && l.stack[k].cont != "" {
		return "{ " + l.stack[k].cont + "; " + plain + " }"
	}
	return plain
}

func (l *lowering) rangeSeq(r *ast.RangeStmt, f *frame) string {
	top := len(l.stack)
	fn := l.fnFrame(top)
	f.seq, f.state, f.exits = true, l.fresh("st"), &[]string{}
	sig := l.typeOf(r.X).Underlying().(*types.Signature)
	yield := sig.Params().At(0).Type().Underlying().(*types.Signature)
	var ps, sets []string
	for i := range yield.Params().Len() {
		e := r.Key
		if i == 1 {
			e = r.Value
		}
		ts := l.typ(yield.Params().At(i).Type())
		switch {
		case isBlank(e):
			ps = append(ps, "_ "+ts)
		case r.Tok == token.DEFINE:
			ps = append(ps, l.text(e)+" "+ts)
		default:
			p := l.fresh("p")
			ps, sets = append(ps, p+" "+ts), append(sets, l.text(e)+" = "+p)
		}
	}
	x := l.text(r.X)
	body := l.within(f, func() string { return l.loopBody(r.Body, strings.Join(sets, "; "), "return true") })
	var b strings.Builder
	sq := l.fresh("sq")
	b.WriteString("{ " + f.state + " := 0; " + sq + " := " + x + "; ")
	outer := l.innerSeq(top) == nil
	var rets []string
	res := fn.sig.Results()
	for i := range res.Len() {
		n := l.resultName(fn, i)
		if outer && !fn.named {
			b.WriteString("var " + n + " " + l.typ(res.At(i).Type()) + "; _ = " + n + "; ")
		}
		rets = append(rets, n)
	}
	if fn.d != "" {
		rets = nil
	}
	b.WriteString(sq + "(func(" + strings.Join(ps, ", ") + ") bool " + body + "); ")
	if outer {
		b.WriteString("if " + f.state + " == -2 { return " + strings.Join(rets, ", ") + " }; ")
	} else {
		b.WriteString("if " + f.state + " == -2 { " + l.innerSeq(top).state + " = -2; return false }; ")
	}
	for i, e := range *f.exits {
		fmt.Fprintf(&b, "if %s == %d { %s }; ", f.state, i+1, e)
	}
	b.WriteString("}")
	return b.String()
}
