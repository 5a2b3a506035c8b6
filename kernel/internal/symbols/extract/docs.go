package extract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Docs returns the doc comments of a package with the given files, by what
// they are about: "" is the package, "Reader" a name of it, "Reader.Read" a
// method, a field or an interface's method. What is not exported is left out,
// but for package builtin's.
func Docs(files []string) (map[string]string, error) {
	docs := map[string]string{}
	fset := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		d := documented{docs, f.Name.Name == "builtin"}
		if text := f.Doc.Text(); len(text) > len(docs[""]) {
			docs[""] = text
		}
		for _, decl := range f.Decls {
			d.declaration(decl)
		}
	}
	return docs, nil
}

type documented struct {
	docs map[string]string
	all  bool
}

func (d documented) declaration(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil && len(decl.Recv.List) == 1 {
			name = receiver(decl.Recv.List[0].Type) + "." + name
		}
		d.add(name, decl.Doc)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				d.add(spec.Name.Name, spec.Doc, decl.Doc)
				switch t := spec.Type.(type) {
				case *ast.StructType:
					d.fields(spec.Name.Name, t.Fields)
				case *ast.InterfaceType:
					d.fields(spec.Name.Name, t.Methods)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					d.add(name.Name, spec.Doc, spec.Comment, decl.Doc)
				}
			}
		}
	}
}

func (d documented) fields(of string, list *ast.FieldList) {
	for _, f := range list.List {
		for _, name := range f.Names {
			d.add(of+"."+name.Name, f.Doc, f.Comment)
		}
	}
}

// add keeps the first of the comments that says something.
func (d documented) add(name string, comments ...*ast.CommentGroup) {
	for part := range strings.SplitSeq(name, ".") {
		if !d.all && !ast.IsExported(part) {
			return
		}
	}
	for _, c := range comments {
		if text := c.Text(); text != "" {
			d.docs[name] = text
			return
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.ParenExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
