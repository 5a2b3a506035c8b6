package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// A lowering rewrites checked Go into text that yaegi runs right. It is pure:
// text, syntax and types in, text out, and a draft of the notebook's names.
//
// Each lower_<rule>.go holds one rule and opens with its theory. rule calls
// them; text and cut apply them through the tree.
type lowering struct {
	*draft
	std *library
	src *source

	env        env
	locals     map[*types.TypeName]*types.Named // local types of the instance
	localNames map[*types.TypeName]string       // local types that were moved to the package
	keys       bool                             // typ writes what identifies a type, not its text

	stack  []*frame
	label  map[ast.Stmt]string
	esc    map[types.Object]bool
	direct map[*ast.FuncLit]string
	called map[ast.Expr]bool // functions that stand in a call
	show   *cell.Cell        // set while its body is lowered
	n      int               // for new local names; starts again with every declaration

	imports map[string]string
	taken   map[string]bool
	pieces  []*piece
	queue   []*instance
	err     error
}

// piece is one declaration of the lowered text.
type piece struct {
	name *name // nil for the cell's own function
	text string
	src  *source
	pos  token.Pos // of the declaration
	fn   string    // what a frame calls it
	at   *origin
}

// frame is a construct that break, continue and return are about.
type frame struct {
	node   ast.Node // loop, switch, select, or function
	label  string
	fn     bool
	loop   bool
	seq    bool             // a range over a function
	state  string           // its state variable
	exits  *[]string        // statements for codes 1, 2, ...
	cont   string           // statement that a loop runs on continue
	sig    *types.Signature // of a function
	named  bool             // its results are plain variables
	d      string           // the name of its deferred calls, if it has any
	direct string           // the deferred calls that a deferred literal is about
	names  []string         // of its unnamed results
}

// unsupported is what the lowering or yaegi cannot do.
type unsupported struct {
	pos token.Position
	msg string
}

func (e *unsupported) Error() string { return e.msg }

// fail notes the first construct that cannot be lowered.
func (l *lowering) fail(n ast.Node, format string, args ...any) {
	if l.err != nil {
		return
	}
	e := &unsupported{msg: fmt.Sprintf(format, args...)}
	if n != nil && l.src != nil {
		e.pos = l.src.fset.Position(n.Pos())
	}
	l.err = e
}

func (l *lowering) push(f *frame) { l.stack = append(l.stack, f) }
func (l *lowering) pop()          { l.stack = l.stack[:len(l.stack)-1] }

func (l *lowering) within(f *frame, g func() string) string {
	l.push(f)
	defer l.pop()
	return g()
}

// typeOf is the type of e where it stands, in the instance that is lowered.
func (l *lowering) typeOf(e ast.Expr) types.Type {
	t := l.src.info.TypeOf(e)
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return l.subst(t)
}

func (l *lowering) fresh(base string) string {
	l.n++
	return base + "__" + strconv.Itoa(l.n)
}

// ref is the name of an object of the notebook's.
func (l *lowering) ref(o types.Object) string {
	n := l.of(o)
	if n == nil {
		if l.std.has(o) {
			return l.stdName(o)
		}
		l.fail(nil, "%s is not there: its cell could not run", o.Name())
		return o.Name()
	}
	if l.keys {
		return "#" + strconv.Itoa(n.id)
	}
	return nameRef(n.id)
}

// hostPackage is what lowered text calls the host, see host.go. No import of a
// cell's has this name.
const hostPackage = "host__0"

// host is a function of the host's.
func host(name string) string { return hostPackage + "." + name }

func (l *lowering) rule(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body == nil {
			l.fail(n, "function %s without a body", n.Name.Name)
			return "", true
		}
		f, _ := l.src.info.Defs[n.Name].(*types.Func)
		return l.function(n, n.Pos(), n.Type, n.Body, &frame{node: n, fn: true, sig: f.Signature()}), true
	case *ast.FuncLit:
		s, _ := l.typeOf(n).Underlying().(*types.Signature)
		return l.function(n, n.Pos(), n.Type, n.Body, &frame{node: n, fn: true, sig: s, direct: l.direct[n]}), true
	case *ast.LabeledStmt:
		l.label[n.Stmt] = n.Label.Name
		switch s := n.Stmt.(type) {
		case *ast.RangeStmt:
			if l.isSeq(s) {
				return l.text(s), true
			}
		case *ast.TypeSwitchStmt, *ast.SelectStmt: // they put their label themselves
			return l.text(s), true
		}
	case *ast.ForStmt:
		return l.forStmt(n), true
	case *ast.RangeStmt:
		return l.rangeStmt(n), true
	case *ast.TypeSwitchStmt:
		return l.typeSwitch(n), true
	case *ast.SelectStmt:
		return l.selectStmt(n), true
	case *ast.SwitchStmt:
		return l.within(&frame{node: n, label: l.label[n]}, func() string { return l.inner(n) }), true
	case *ast.BranchStmt:
		return l.branch(n.Tok, labelName(n.Label), len(l.stack)), true
	case *ast.ReturnStmt:
		return l.ret(n)
	case *ast.DeclStmt:
		return l.declStmt(n)
	case *ast.DeferStmt:
		return l.deferStmt(n), true
	case *ast.GoStmt:
		return l.goStmt(n), true
	case *ast.AssignStmt:
		return l.assign(n)
	case *ast.ExprStmt:
		if l.show != nil && n.X == l.show.Show {
			return l.showStmt(n.X), true
		}
		return l.panicStmt(n)
	}
	e, ok := n.(ast.Expr)
	if !ok {
		return "", false
	}
	if s, ok := l.fold(e); ok {
		return s, true
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return l.call(n)
	case *ast.BinaryExpr:
		return l.compare(n)
	case *ast.TypeAssertExpr:
		return l.typeAssert(n)
	case *ast.UnaryExpr:
		return l.address(n)
	case *ast.IndexExpr:
		return l.explicit(n, n.X)
	case *ast.IndexListExpr:
		return l.explicit(n, n.X)
	case *ast.SelectorExpr:
		return l.selector(n)
	case *ast.Ident:
		return l.ident(n)
	case *ast.BasicLit:
		return string(l.src.text[l.src.off(n.Pos()):l.src.off(n.End())]), true
	}
	return "", false
}

func labelName(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return id.Name
}

// ident spells what an identifier means.
func (l *lowering) ident(id *ast.Ident) (string, bool) {
	info := l.src.info
	if in, ok := info.Instances[id]; ok {
		return l.instantiated(id, info.Uses[id], in)
	}
	o := info.Uses[id]
	if o == nil {
		o = info.Defs[id]
	}
	switch o := o.(type) {
	case nil:
		if _, defined := info.Defs[id]; defined && reserved(l, id.Name) {
			return id.Name + "__v", true // of a type switch
		}
		return "", false
	case *types.PkgName:
		return l.use(o.Imported().Path()), true
	case *types.Label, *types.Builtin, *types.Nil:
		return "", false
	case *types.TypeName:
		return l.typeIdent(o)
	case *types.Var:
		if o.IsField() {
			if o.Embedded() {
				return l.embedded(o), true
			}
			return "", false
		}
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "", false
		}
	}
	if o.Pkg() == nil {
		return "", false
	}
	if o.Parent() != nil && o.Parent() == o.Pkg().Scope() || l.of(o) != nil {
		if l.ours(o) {
			return l.ref(o), true
		}
		return l.use(o.Pkg().Path()) + "." + o.Name(), true // of a dot import
	}
	if reserved(l, id.Name) {
		return id.Name + "__v", true
	}
	return "", false
}

func (l *lowering) typeIdent(o *types.TypeName) (string, bool) {
	if o.Pkg() == nil {
		return "", false
	}
	return head(l.typ(o.Type())), true
}

// reserved tells names of locals that would hide what inserted text means:
// predeclared names and the notebook's types.
func reserved(l *lowering, s string) bool {
	if s == "_" {
		return false
	}
	if types.Universe.Lookup(s) != nil {
		return true
	}
	n := l.draft.liveType(s)
	return n != nil && n.kind == typeName
}

// embedded is the name in the interpreter of the field of an embedded type.
func (l *lowering) embedded(v *types.Var) string {
	t := types.Unalias(l.subst(v.Type()))
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok {
		return v.Name()
	}
	o := n.Obj()
	if o.Pkg() != nil && l.ours(o) && (n.TypeArgs().Len() > 0 || l.localNames[o] != "") {
		return l.named(n)
	}
	return o.Name()
}

func (l *lowering) selector(e *ast.SelectorExpr) (string, bool) {
	info := l.src.info
	if in, ok := info.Instances[e.Sel]; ok {
		return l.instantiated(e, info.Uses[e.Sel], in)
	}
	if s := info.Selections[e]; s != nil {
		if s.Kind() == types.MethodExpr {
			return l.methodExpr(e, s), true
		}
		if s.Kind() == types.MethodVal && !l.called[e] {
			return l.methodValue(e, s), true
		}
		if v, ok := s.Obj().(*types.Var); ok && v.Embedded() {
			return l.text(e.X) + "." + l.embedded(v), true
		}
		// the name of a method or field means nothing by itself
		return l.text(e.X) + l.raw(l.src.off(e.X.End()), l.src.off(e.End())), true
	}
	// a package's
	o := info.Uses[e.Sel]
	if o == nil || o.Pkg() == nil {
		return "", false
	}
	if l.std.has(o) {
		return l.stdName(o), true
	}
	if t, ok := o.(*types.TypeName); ok {
		return head(l.typ(t.Type())), true
	}
	if s := hostFuncs[o.Pkg().Path()+"."+o.Name()]; s != "" {
		return host(s), true
	}
	return l.use(o.Pkg().Path()) + "." + o.Name(), true
}

// begin prepares for one declaration.
func (l *lowering) begin(n ast.Node) {
	l.n, l.stack = 0, nil
	l.label, l.esc, l.direct = map[ast.Stmt]string{}, map[types.Object]bool{}, map[*ast.FuncLit]string{}
	l.called = map[ast.Expr]bool{}
	l.findEscapes(n)
}
