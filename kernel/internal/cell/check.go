package cell

import (
	"fmt"
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
	k := s.newCheck(n)
	sp := splitCell(source)
	if len(sp.diags) > 0 {
		return nil, sp.diags.tidy(sp)
	}
	k.plan = planCell(sp, n, k.lives)
	if len(sp.diags) > 0 {
		return nil, sp.diags.tidy(sp)
	}
	c := k.rounds()
	if d := k.diagnose(c); len(d) > 0 {
		k.forget()
		return nil, d
	}
	k.finish(c)
	return c, nil
}

func (s *Scope) newCheck(n int) *check {
	return &check{Scope: s, live: s.state(), n: n, keys: map[*split]map[int]string{}}
}

// lives reports whether a name lives from an earlier cell.
func (k *check) lives(name string) bool { return k.live.names[name] != nil }

// rounds checks the cell: once where it declares only new names, and again
// with what the names of the first round make necessary.
func (k *check) rounds() *Cell {
	k.keep()
	k.resolveImports()
	k.ownImps, k.ownDeclared = k.imps, k.declared
	k.prepare(k.receivers(), nil)
	c := k.round()
	if k.renames = k.early(c); len(k.renames) > 0 {
		c = k.round()
	}
	return k.recheck(c)
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
	deep  bool                          // the syntax is too deep to check
	loose bool                          // check what does not parse, too
	cell  *Cell                         // of a loose check
	old   map[types.Object]types.Object // stand-ins and the earlier objects

	ownImps     []importSpec    // imps without those of carried
	ownDeclared map[string]bool // declared by the cell itself

	renames map[int]string            // names in the text of identifiers of the cell, by offset
	keys    map[*split]map[int]string // keys that the text gives elements of literals, by offset

	changed map[string]bool // names that mean another type after the cell
	carried []*piece
	failed  map[*piece]bool // pieces of earlier cells that no longer check
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

// round composes, parses and checks the cell, with names for the elements of
// struct literals where the first try shows that they need them.
func (k *check) round() *Cell {
	c := k.try()
	if k.nameElements(c) {
		c = k.try()
	}
	return c
}

func (k *check) try() *Cell {
	k.forget()
	k.errs, k.deep = nil, false
	c := &Cell{N: k.n, Source: k.src, Fset: k.fset}
	w := k.compose()
	bodyName := "cell__" + itoa(k.n)
	c.Text = w.file(bodyName)
	c.File = k.parse(c.Text)
	k.decls = nil
	if len(k.order) > 0 && (k.loose || len(k.errs) == 0) {
		k.decls = k.parse(w.declarations())
	}
	if k.deep || len(k.errs) > 0 && !k.loose {
		return c
	}
	k.typecheck(c)
	for _, d := range c.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && k.body && f.Name.Name == bodyName {
			c.Body = f
		}
	}
	return c
}

// edits returns what the text changes in the source of a cell.
func (k *check) edits(s *split) map[int]edit {
	m := map[int]edit{}
	for off, key := range k.keys[s] {
		m[off] = edit{text: key}
	}
	if s == k.split {
		for off, name := range k.renames {
			m[off] = edit{text: m[off].text + name, del: k.identEnd(off) - off}
		}
	}
	return m
}

// identEnd returns where the identifier at off ends.
func (k *check) identEnd(off int) int {
	i, _ := slices.BinarySearchFunc(k.toks, off, func(t tok, off int) int { return t.off - off })
	for ; i < len(k.toks); i++ {
		if k.toks[i].end > off {
			return k.toks[i].end
		}
	}
	return off
}

// nameElements finds the struct literals without field names whose type is of
// an earlier cell, and sets the keys that the text gives their elements. Go
// allows such literals in the package of the type; to the type checker an
// earlier cell is another one, of the same path, and names are in order.
func (k *check) nameElements(c *Cell) bool {
	if c.Info == nil {
		return false
	}
	splits := map[string]*split{"In[" + itoa(k.n) + "]": k.split}
	for _, p := range k.carried {
		splits["In["+itoa(p.n)+"]"] = p.src
	}
	found := false
	visit := func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return true
		}
		if _, ok := lit.Elts[0].(*ast.KeyValueExpr); ok {
			return true
		}
		st := structOf(c.Info.Types[lit].Type)
		if st == nil || len(lit.Elts) != st.NumFields() {
			return true
		}
		needs := false
		for f := range st.Fields() {
			needs = needs || !f.Exported() && f.Pkg() != c.Pkg && f.Pkg().Path() == "main"
		}
		for i, e := range lit.Elts {
			pos := k.fset.Position(e.Pos())
			if s := splits[pos.Filename]; needs && s != nil && st.Field(i).Name() != "_" {
				if k.keys[s] == nil {
					k.keys[s] = map[int]string{}
				}
				k.keys[s][s.lines[pos.Line-1]+pos.Column-1] = st.Field(i).Name() + ": "
				found = true
			}
		}
		return true
	}
	ast.Inspect(c.File, visit)
	return found
}

// structOf returns the struct that a literal of type t makes, or nil.
func structOf(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem() // &T{} with the type left out
	}
	st, _ := t.Underlying().(*types.Struct)
	return st
}

func (k *check) parse(text []byte) *ast.File {
	f, err := parser.ParseFile(k.fset, "In["+itoa(k.n)+"]", text, parser.SkipObjectResolution)
	if f != nil && f.FileStart.IsValid() {
		k.files = append(k.files, k.fset.File(f.FileStart))
	}
	switch err := err.(type) {
	case nil:
		if tooDeep(f) {
			k.deep = true
			k.errs = append(k.errs, &scanner.Error{Pos: token.Position{Line: 1, Column: 1}, Msg: "expression nested more than " + itoa(maxTree) + " deep"})
		}
	case scanner.ErrorList:
		k.deep = k.deep || k.loose && tooDeep(f)
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

func (k *check) typecheck(c *Cell) {
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
	insert := func(name string) {
		if e := k.live.names[name]; e != nil && !k.declared[name] && !imported[name] {
			c.Pkg.Scope().Insert(e.obj)
		}
	}
	// Only what the cell mentions is looked at, however large the notebook.
	for i, t := range k.toks {
		if t.tok == token.IDENT {
			insert(k.name(i))
		}
	}
	for _, p := range k.carried {
		for name := range p.refs {
			insert(name)
		}
	}
	k.old = map[types.Object]types.Object{}
	for _, name := range k.renames {
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
	for _, p := range k.pieces {
		// A receiver whose type is no declaration of the file is beyond what
		// the checker is made for.
		if _, ok := c.Pkg.Scope().Lookup(p.recv).(*types.TypeName); ok && p.kind == methodChunk {
			k.errs = append(k.errs, &fault{p.src.toks[p.span.first].off, fmt.Sprintf("cannot define new methods on the earlier type %s", p.recv), "declare the type again in this cell"})
			return
		}
	}
	defer func() {
		if r := recover(); r != nil {
			k.errs = append(k.errs, fmt.Errorf("the type checker failed on this cell: %v", r))
		}
	}()
	types.NewChecker(&conf, k.fset, c.Pkg, c.Info).Files(files)
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
		if o := c.Pkg.Scope().Lookup(name); o.Pkg() == c.Pkg && (c.Body == nil || o != c.Info.Defs[c.Body.Name]) {
			c.Defines = append(c.Defines, o)
		}
	}
	slices.SortFunc(c.Defines, func(a, b types.Object) int { return k.compare(a.Pos(), b.Pos()) })
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
	c.Replaces = k.replacements(c)

	c.pieces = slices.Concat(k.carried, k.pieces)
	for i, d := range k.declsOf(c) {
		if i < len(c.pieces) {
			c.pieces[i] = c.pieces[i].noted(d, c)
		}
	}
	c.changed, c.lost = k.changed, map[string]string{}
	for p := range k.failed {
		if p.kind != methodChunk {
			for _, name := range p.names {
				c.lost[name] = k.cause(p)
			}
		}
	}
}

// compare orders positions as the cell's source does.
func (k *check) compare(a, b token.Pos) int {
	x, _ := k.offset(a)
	y, _ := k.offset(b)
	return x - y
}

// replacements pairs what the cell declares with what had the name, kind and
// type before.
func (k *check) replacements(c *Cell) map[types.Object]types.Object {
	m := map[types.Object]types.Object{}
	for _, o := range c.Defines {
		if e := k.live.names[o.Name()]; e != nil && replaces(o, e.obj) {
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
