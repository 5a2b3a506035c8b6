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
)

// GoVersion is the language of cells.
const GoVersion = "go1.26"

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
	s.checking.Lock()
	defer s.checking.Unlock()
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
	k.forgetWith(c)
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
	k.prepare(k.receivers(), map[*piece]bool{})
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

func (k *check) parse(text []byte) *ast.File {
	// The name is not that of the line directives: what they do not cover is
	// no place in the cell.
	f, err := parser.ParseFile(k.fset, "cell__"+itoa(k.n), text, parser.SkipObjectResolution)
	if f != nil && f.FileStart.IsValid() {
		k.files = append(k.files, k.fset.File(f.FileStart))
	}
	switch err := err.(type) {
	case nil:
		if tooDeep(f) {
			k.deep = true
			k.errs = append(k.errs, &fault{msg: "expression nested more than " + itoa(maxTree) + " deep"})
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

// forgetWith drops the files of c from the file set once nothing that c
// declares is reachable: who asks for a position has an object of the package,
// or the package.
func (k *check) forgetWith(c *Cell) {
	for _, f := range k.files {
		runtime.AddCleanup(c.Pkg, k.fset.RemoveFile, f)
	}
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
		GoVersion:                GoVersion,
		Importer:                 k.imp,
		Sizes:                    k.sizes,
		DisableUnusedImportCheck: true,
		Error:                    func(err error) { k.errs = append(k.errs, err) },
	}
	files := []*ast.File{c.File}
	if k.decls != nil {
		files = []*ast.File{k.decls, c.File}
	}
	if err := k.guard(c); err != nil {
		k.errs = append(k.errs, err)
		return
	}
	defer k.wrap(c)()
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
	if pos.Line < 1 || pos.Line > len(k.lines) || pos.Filename != fileName(k.n) {
		return 0, false
	}
	off := k.lines[pos.Line-1] + pos.Column - 1
	return off, off <= len(k.src)
}
