package yaegi

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// The last expression.
//
// Its values go to the host with what a display looks for: interpreted methods
// do not survive the way, so they go along as closures.
//
//	t		// of a type with String
//	{ s__1 := t; host__0.Show(0, "T", s__1); host__0.BindString(0, func() string { return s__1.String() }) }

var displayMethods = []struct{ name, host string }{
	{"MIMEBundle", "BindBundle"},
	{"String", "BindString"},
	{"Error", "BindError"},
}

var displaySignatures = map[string]string{
	"MIMEBundle": "func() map[string]any",
	"String":     "func() string",
	"Error":      "func() string",
}

func (l *lowering) showStmt(x ast.Expr) string {
	var ts []types.Type
	switch t := l.typeOf(x).(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			ts = append(ts, v.Type())
		}
	default:
		ts = []types.Type{types.Default(t)}
	}
	var vs []string
	for range ts {
		vs = append(vs, l.fresh("s"))
	}
	var b strings.Builder
	b.WriteString("{ ")
	if l.src.info.Types[x].IsNil() {
		b.WriteString("var " + vs[0] + " interface{}; ")
	} else {
		b.WriteString(strings.Join(vs, ", ") + " := " + l.text(x) + "; ")
	}
	for i, t := range ts {
		v, how := vs[i], "Show"
		if types.IsInterface(t) && types.Implements(t, errorType) {
			how = "ShowError"
		}
		shown := v
		if how == "Show" {
			shown = l.held(t, v)
		}
		fmt.Fprintf(&b, "%s(%d, %s, %s); ", host(how), i, quote(types.TypeString(t, cell.Qualify)), shown)
		guard, end := "", ""
		if types.IsInterface(t) { // the host finds what compiled values have
			guard, end = "if "+v+" != nil { ", "}; "
		}
		if !l.interpreted(t) {
			continue
		}
		set := types.NewMethodSet(t)
		for _, m := range displayMethods {
			s := set.Lookup(nil, m.name)
			if s == nil || how == "ShowError" && m.name == "Error" || types.TypeString(s.Type(), nil) != displaySignatures[m.name] {
				continue
			}
			fmt.Fprintf(&b, guard+"%s(%d, %s { return %s.%s() }); "+end, host(m.host), i, strings.Replace(displaySignatures[m.name], "any", "interface{}", 1), v, m.name)
		}
	}
	b.WriteString("}")
	return b.String()
}
