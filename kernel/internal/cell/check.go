package cell

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"runtime"
	"slices"
	"strings"
)

const goVersion = "go1.26"

func sizes() types.Sizes {
	if s := types.SizesFor("gc", runtime.GOARCH); s != nil {
		return s
	}
	return types.SizesFor("gc", "amd64")
}

// Check checks the source of In[n] against the names that live and returns
// the cell that an engine can run. The error is Diagnostics.
//
// Check changes nothing that other methods of s see.
func (s *Scope) Check(n int, source string) (*Cell, error) {
	k := &check{Scope: s, live: s.state(), n: n}
	sp := splitCell(source)
	if len(sp.diags) > 0 {
		return nil, sp.diags.tidy(sp)
	}
	k.plan = planCell(sp, func(name string) bool { return k.live.names[name] != nil })
	if len(sp.diags) > 0 {
		return nil, sp.diags.tidy(sp)
	}
	k.resolveImports()
	c := k.round(nil)
	if early := k.early(c); len(early) > 0 && len(sp.diags) == 0 {
		k.forget()
		k.errs = nil
		c = k.round(early)
	}
	if d := k.diagnose(c); len(d) > 0 {
		k.forget()
		return nil, d
	}
	k.finish(c)
	return c, nil
}

// A check is one run of Check.
type check struct {
	*Scope
	*plan
	live *state
	n    int

	imps  []importSpec      // all that the file imports
	alias map[string]string // import name of packages that a hoisted variable hides: name to alias
	named map[string]string // imports that the cell names, by name
	dots  []string

	files []*token.File
	decls *ast.File
	errs  []error                       // of the parser or the type checker
	loose bool                          // check what does not parse, too
	cell  *Cell                         // of a loose check
	old   map[types.Object]types.Object // stand-ins and the earlier objects
}

// resolveImports collects the imports of the file: the cell's own, those of
// earlier cells that it uses, those of the prelude that it uses.
func (k *check) resolveImports() {
	k.alias, k.named = map[string]string{}, map[string]string{}
	have := map[string]bool{}
	for _, im := range k.plan.imps {
		switch name := im.name; name {
		case "_":
		case ".":
			k.dots = append(k.dots, im.path)
		case "":
			if pkg, err := k.imp.Import(im.path); err == nil {
				name = pkg.Name()
			} else {
				name = im.path[strings.LastIndexByte(im.path, '/')+1:]
			}
			fallthrough
		default:
			k.named[name] = im.path
			have[name] = true
			if k.hoisted[name] != nil {
				k.alias[name] = "cell__" + name
				im.name = k.alias[name]
			}
		}
		k.imps = append(k.imps, im)
	}
	for i, t := range k.toks {
		if t.tok != token.IDENT || k.at(i+1) != token.PERIOD || k.at(i-1) == token.PERIOD {
			continue
		}
		name := k.name(i)
		if have[name] || k.declared[name] && k.hoisted[name] == nil || k.live.names[name] != nil {
			continue
		}
		path, ok := k.live.imports[name]
		if !ok {
			path, ok = k.prelude.Imports[name]
		}
		if !ok {
			continue
		}
		have[name] = true
		if _, err := k.imp.Import(path); err != nil {
			continue // then the name is undefined
		}
		im := importSpec{name: name, path: path}
		if k.hoisted[name] != nil {
			k.alias[name] = "cell__" + name
			im.name = k.alias[name]
		}
		k.imps = append(k.imps, im)
	}
	for _, path := range k.live.dots {
		if !slices.Contains(k.dots, path) {
			k.imps = append(k.imps, importSpec{name: ".", path: path})
		}
	}
}

// round composes, parses and checks the cell with the given renames.
func (k *check) round(renames map[int]string) *Cell {
	c := &Cell{N: k.n, Source: k.src, Fset: k.fset}
	w := newWriter(k.plan, k.n, renames)
	bodyName := "cell__" + itoa(k.n)
	w.file(bodyName, k.imps)
	c.Text = bytes.Clone(w.Bytes())
	c.File = k.parse(c.Text)
	k.decls = nil
	if len(k.order) > 0 && (k.loose || len(k.errs) == 0) {
		w.Reset()
		w.declarations(k.imps)
		k.decls = k.parse(bytes.Clone(w.Bytes()))
	}
	if len(k.errs) > 0 && !k.loose {
		return c
	}
	k.typecheck(c, renames)
	if k.body {
		for _, d := range c.File.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == bodyName {
				c.Body = f
			}
		}
	}
	return c
}

func (k *check) parse(text []byte) *ast.File {
	f, err := parser.ParseFile(k.fset, "In["+itoa(k.n)+"]", text, parser.SkipObjectResolution)
	if f != nil && f.FileStart.IsValid() {
		k.files = append(k.files, k.fset.File(f.FileStart))
	}
	switch err := err.(type) {
	case nil:
		if tooDeep(f) {
			k.errs = append(k.errs, &scanner.Error{Pos: token.Position{Line: 1, Column: 1}, Msg: "expression nested more than " + itoa(maxTree) + " deep"})
		}
	case scanner.ErrorList:
		for _, e := range err {
			k.errs = append(k.errs, e)
		}
	default:
		k.errs = append(k.errs, err)
	}
	return f
}

// tooDeep reports whether the tree is deeper than the type checker's stack
// should be asked for.
func tooDeep(f *ast.File) bool {
	depth, deep := 0, false
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			depth--
			return false
		}
		depth++
		deep = deep || depth > maxTree
		if deep {
			depth-- // no call follows for a node whose children are not visited
		}
		return !deep
	})
	return deep
}

// forget drops the files of a check that failed from the file set.
func (k *check) forget() {
	for _, f := range k.files {
		k.fset.RemoveFile(f)
	}
	k.files = nil
}

func (k *check) typecheck(c *Cell, renames map[int]string) {
	c.Pkg = types.NewPackage("main", "main")
	c.Info = &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Instances:    map[*ast.Ident]types.Instance{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		Scopes:       map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
	imported := map[string]bool{}
	for _, im := range k.imps {
		imported[im.name] = true
	}
	for name := range k.named {
		imported[name] = true
	}
	// Only what the cell mentions is looked at, however large the notebook.
	for i, t := range k.toks {
		if t.tok != token.IDENT {
			continue
		}
		name := k.name(i)
		if e := k.live.names[name]; e != nil && !k.declared[name] && !imported[name] {
			c.Pkg.Scope().Insert(e.obj)
		}
	}
	k.old = map[types.Object]types.Object{}
	for _, name := range renames {
		k.standIn(c.Pkg, name)
	}
	conf := types.Config{
		GoVersion:                goVersion,
		Importer:                 k.imp,
		Sizes:                    k.sizes,
		DisableUnusedImportCheck: true,
		Error:                    func(err error) { k.errs = append(k.errs, err) },
	}
	files := []*ast.File{c.File}
	if k.decls != nil {
		files = []*ast.File{k.decls, c.File}
	}
	types.NewChecker(&conf, k.fset, c.Pkg, c.Info).Files(files)
}

// early finds the identifiers that mean a hoisted variable but stand before
// its declaration, as the second x of x := f(x), and what they are to be
// called so that they mean what the name meant before the cell.
func (k *check) early(c *Cell) map[int]string {
	if c.Info == nil || len(k.order) == 0 {
		return nil
	}
	repeated := false
	seen := map[string]bool{}
	for i, t := range k.toks {
		if t.tok == token.IDENT && k.hoisted[k.name(i)] != nil {
			v := k.hoisted[k.name(i)]
			if i < v.end && !slices.Contains(v.names, i) {
				repeated = true
			}
			seen[k.name(i)] = true
		}
	}
	if !repeated {
		return nil
	}
	var renames map[int]string
	files := []ast.Node{k.decls}
	if c.Body != nil {
		files = append(files, c.Body)
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := c.Info.Uses[id]
			if o == nil || o.Parent() != c.Pkg.Scope() || k.hoisted[id.Name] == nil {
				return true
			}
			v := k.hoisted[id.Name]
			off, ok := k.offset(id.Pos())
			if !ok || off >= k.toks[v.end-1].end || k.declares(v, off) {
				return true
			}
			name := k.meaning(id.Name)
			if name == "" {
				k.undefined(off, id.Name, v)
				return true
			}
			if renames == nil {
				renames = map[int]string{}
			}
			renames[off] = name
			return true
		})
	}
	return renames
}

// declares reports whether the name that v declares stands at off.
func (k *check) declares(v *vars, off int) bool {
	return slices.ContainsFunc(v.names, func(n int) bool { return k.toks[n].off == off })
}

// meaning returns the name under which the text may use what name meant
// before the cell; "" if it meant nothing.
func (k *check) meaning(name string) string {
	if a := k.alias[name]; a != "" {
		return a
	}
	if e := k.live.names[name]; e != nil {
		return "cell__" + itoa(e.cell) + "_" + name
	}
	return ""
}

// undefined reports the use of a variable before the statement that declares
// it.
func (k *check) undefined(off int, name string, v *vars) {
	line, _ := k.position(k.toks[v.start].off)
	if types.Universe.Lookup(name) != nil {
		k.fail(off, "choose another name than that of the predeclared "+name, "%s is the variable that line %d declares", name, line)
		return
	}
	k.fail(off, "line "+itoa(line)+" declares it, which is not before its use", "undefined: %s", name)
}

// standIn puts into the scope an object of the given name that stands for the
// earlier object of the name that it ends with.
func (k *check) standIn(pkg *types.Package, name string) {
	rest, _ := strings.CutPrefix(name, "cell__")
	_, rest, ok := strings.Cut(rest, "_")
	e := k.live.names[rest]
	if !ok || e == nil || pkg.Scope().Lookup(name) != nil {
		return // the alias of an import
	}
	var o types.Object
	switch old := e.obj.(type) {
	case *types.Var:
		o = types.NewVar(old.Pos(), old.Pkg(), name, old.Type())
	case *types.Func:
		o = types.NewFunc(old.Pos(), old.Pkg(), name, old.Signature())
	case *types.Const:
		o = types.NewConst(old.Pos(), old.Pkg(), name, old.Type(), old.Val())
	case *types.TypeName:
		o = types.NewTypeName(old.Pos(), old.Pkg(), name, old.Type())
	default:
		return
	}
	k.old[o] = e.obj
	pkg.Scope().Insert(o)
}

// offset returns the offset in the source of a position of the text.
func (k *check) offset(p token.Pos) (int, bool) {
	pos := k.fset.Position(p)
	if pos.Line < 1 || pos.Line > len(k.lines) || pos.Filename != "In["+itoa(k.n)+"]" {
		return 0, false
	}
	off := k.lines[pos.Line-1] + pos.Column - 1
	return off, off <= len(k.src)
}

// finish fills in what a cell that checks says about itself.
func (k *check) finish(c *Cell) {
	for id, o := range c.Info.Uses {
		if old := k.old[o]; old != nil {
			c.Info.Uses[id] = old
		}
	}
	c.Main = k.program
	c.named, c.dots = k.named, k.dots
	for _, name := range k.order {
		if v, ok := c.Pkg.Scope().Lookup(name).(*types.Var); ok {
			c.Hoisted = append(c.Hoisted, v)
		}
	}
	for _, name := range c.Pkg.Scope().Names() {
		if o := c.Pkg.Scope().Lookup(name); o.Pkg() == c.Pkg {
			c.Defines = append(c.Defines, o)
		}
	}
	slices.SortFunc(c.Defines, func(a, b types.Object) int { return k.less(a.Pos(), b.Pos()) })
	c.Info.InitOrder = slices.DeleteFunc(c.Info.InitOrder, func(i *types.Initializer) bool {
		return k.decls != nil && k.decls.FileStart <= i.Rhs.Pos() && i.Rhs.Pos() < k.decls.FileEnd
	})
	used := map[*types.PkgName]bool{}
	for _, o := range c.Info.Uses {
		if p, ok := o.(*types.PkgName); ok {
			used[p] = true
		}
	}
	for _, spec := range c.File.Imports {
		o := c.Info.Implicits[spec]
		if spec.Name != nil {
			o = c.Info.Defs[spec.Name]
		}
		if p, ok := o.(*types.PkgName); ok && (used[p] || p.Name() == ".") {
			c.Imports = append(c.Imports, p)
		}
	}
	c.Show = k.show(c)
	c.Replaces = k.replaces(c)
}

func (k *check) less(a, b token.Pos) int {
	x, _ := k.offset(a)
	y, _ := k.offset(b)
	return x - y
}

// replaces pairs what the cell declares with what had the name, kind and type
// before.
func (k *check) replaces(c *Cell) map[types.Object]types.Object {
	m := map[types.Object]types.Object{}
	for _, o := range c.Defines {
		e := k.live.names[o.Name()]
		if e == nil || kindOf(e.obj) != kindOf(o) || !types.Identical(e.obj.Type(), o.Type()) {
			continue
		}
		switch o.(type) {
		case *types.Var, *types.Func:
			m[o] = e.obj
		}
	}
	return m
}

// lastExpr returns the expression that ends the cell's statements, or nil.
func (k *check) lastExpr(c *Cell) ast.Expr {
	if c.Body == nil || len(c.Body.Body.List) == 0 {
		return nil
	}
	st, ok := c.Body.Body.List[len(c.Body.Body.List)-1].(*ast.ExprStmt)
	if !ok {
		return nil
	}
	return st.X
}

func (k *check) show(c *Cell) ast.Expr {
	x := k.lastExpr(c)
	if x == nil || c.Info.Types[x].IsVoid() {
		return nil
	}
	for _, ch := range slices.Backward(k.chunks) {
		if ch.kind == stmtChunk || ch.kind == varChunk {
			if ch.semi {
				return nil
			}
			break
		}
	}
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && printer(c.Info, call) {
		return nil
	}
	return x
}

// printer reports whether a call is one of fmt's that print: nobody wants to
// see what they return.
func printer(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return false
	}
	switch strings.TrimPrefix(f.Name(), "F") {
	case "Print", "Printf", "Println", "print", "printf", "println":
		return true
	}
	return false
}
