package yaegi

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Struct types.
//
// For yaegi types of the same shape are the same. A tag on the first field of
// every struct type that a cell names tells them apart and changes nothing
// else. Fields with small names have large ones in yaegi, so that encoders
// would write them; a tag says not to.
//
//	type A struct{ N int `json:"n"`; seen bool }
//	type A struct{ N int "json:\"n\" cell:\"A\""; seen bool "json:\"-\" xml:\"-\"" }

// definition renders the type that name ref is defined as.
func (l *lowering) definition(s *ast.TypeSpec, ref string) string {
	st, ok := ast.Unparen(s.Type).(*ast.StructType)
	if !ok {
		return l.text(s.Type)
	}
	var b strings.Builder
	from := s.Type.Pos()
	for i, f := range st.Fields.List {
		tag, end := "", f.End()
		if f.Tag != nil {
			tag, _ = strconv.Unquote(f.Tag.Value)
			end = f.Tag.Pos()
		} else if hidden(f) {
			tag = `json:"-" xml:"-"`
		}
		if i == 0 {
			// the name is spelled at the end, so the literal is quoted around it
			tag = strings.TrimSpace(tag + ` cell:"%"`)
		}
		b.WriteString(l.cut(s.Type, from, end))
		if tag != "" {
			tag = " " + strconv.Quote(tag)
		}
		if i == 0 {
			k := strings.LastIndexByte(tag, '%')
			tag = tag[:k] + ref + tag[k+1:]
		}
		b.WriteString(tag)
		from = f.End()
	}
	b.WriteString(l.cut(s.Type, from, s.Type.End()))
	return b.String()
}

// hidden tells fields that no other package sees.
func hidden(f *ast.Field) bool {
	for _, n := range f.Names {
		if token.IsExported(n.Name) {
			return false
		}
	}
	return len(f.Names) > 0
}
