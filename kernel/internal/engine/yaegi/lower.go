package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/cell"
)

// A lowering rewrites checked Go into text that yaegi runs right. It is pure:
// text, syntax and types in, text out, and a draft of the notebook's names.
//
// Each lower_<rule>.go holds one rule and opens with its theory. rule calls
// them; text and cut apply them through the tree.
type lowering struct {
	*draft
	std  *library
	src  *source
	cell *cell.Cell

	env        env
	locals     map[*types.TypeName]*types.Named // local types of the instance
	localNames map[*types.TypeName]string       // local types that were moved to the package
	keys       bool                             // typ writes what identifies a type, not its text

	stack    []*frame
	label    map[ast.Stmt]string
	esc      map[types.Object]bool
	direct   map[*ast.FuncLit]string
	called   map[ast.Expr]bool       // functions that stand in a call
	becomes  map[ast.Expr]types.Type // operands to be converted
	indices  map[ast.Expr]bool       // constant indices of literals, and lengths
	literals map[ast.Expr]bool       // of tuples
	places   map[ast.Expr]bool       // what is assigned to
	unnamed  map[*ast.Field]bool     // parameters
	receives map[ast.Expr]bool       // receive operators that yaegi may run as they are
	keyed    map[ast.Expr]bool       // keys of literals of maps with keys of interface type
	clauses  map[ast.Stmt]bool       // statements in the heads of others
	show     *cell.Cell              // set while its body is lowered
	n        int                     // for new local names; starts again with every declaration

	imports map[string]string
	taken   map[string]bool
	pieces  []*piece
	methods []string              // statements that tell the host of methods
	starts  []string              // of packages' initialisations, and
	lazy    []string              // of single variables'
	known   map[string]types.Type // that the host is told of, by name
	queue   []*instance
	err     error
	doubt   *unsupported // why the interpreter may fail
}

// piece is one declaration of the lowered text.
type piece struct {
	name  *name // nil for the cell's own function
	text  string
	src   *source
	pos   token.Pos     // of the declaration
	fn    string        // what a frame calls it
	holds string        // of a type's, the types that it holds, see inTypeOrder
	parts string        // and those that it is made of in any way
	decl  *ast.FuncDecl // of a function of a module's package
	at    *origin
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
	pos  token.Position
	msg  string
	decl *ast.FuncDecl // of a module's package, in which it is
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

// unsure notes the first construct of which yaegi does not compile every use.
func (l *lowering) unsure(n ast.Node, format string, args ...any) {
	if l.doubt == nil {
		l.doubt = &unsupported{pos: l.src.fset.Position(n.Pos()), msg: fmt.Sprintf(format, args...)}
	}
}

func (l *lowering) push(f *frame) { l.stack = append(l.stack, f) }

func (l *lowering) pop() { l.stack = l.stack[:len(l.stack)-1] }

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

func (l *lowering) rule(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
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
		case *ast.SwitchStmt:
			if !l.plainSwitch(s) {
				return l.text(s), true
			}
		}
	case *ast.IfStmt:
		l.clauses[n.Init] = true
	case *ast.ForStmt:
		l.clauses[n.Init], l.clauses[n.Post] = true, true
		return l.forStmt(n), true
	case *ast.RangeStmt:
		return l.rangeStmt(n), true
	case *ast.TypeSwitchStmt:
		return l.typeSwitch(n), true
	case *ast.SelectStmt:
		return l.selectStmt(n), true
	case *ast.SwitchStmt:
		l.clauses[n.Init] = true
		return l.switchStmt(n), true
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
		for _, e := range n.Lhs {
			l.places[e] = true
		}
		s, ok := l.assign(n)
		if l.clauses[n] && strings.HasPrefix(s, "{") { // no block stands there
			s = "func() " + s + "()"
		}
		return s, ok
	case *ast.ExprStmt:
		if l.show != nil && n.X == l.show.Show {
			return l.showStmt(n.X), true
		}
		l.receiveOnly(n.X)
		return l.panicStmt(n)
	case *ast.SendStmt:
		if ch, ok := l.typeOf(n.Chan).Underlying().(*types.Chan); ok {
			l.becomes[n.Value] = ch.Elem()
		}
	case *ast.CompositeLit:
		if l.literals[n] {
			return l.passed(n), true
		}
		if s, ok := l.table(n); ok {
			return s, true
		}
		l.elements(n)
	case *ast.ArrayType:
		l.index(n, n.Len)
	case *ast.Field:
		if l.unnamed[n] {
			delete(l.unnamed, n)
			return "_ " + l.text(n), true
		}
	case *ast.MapType:
		return l.faceKeys(l.typeOf(n))
	}
	e, ok := n.(ast.Expr)
	if !ok {
		return "", false
	}
	if p, ok := e.(*ast.ParenExpr); ok && l.places[e] {
		return l.text(p.X), true // yaegi assigns to (*x) nothing
	}
	if l.keyed[e] {
		delete(l.keyed, e)
		return l.key(e), true
	}
	if to := l.becomes[e]; to != nil {
		delete(l.becomes, e)
		return l.converted(e, l.text(e), to), true
	}
	if s, ok := l.fold(e); ok {
		return s, true
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return l.call(n)
	case *ast.BinaryExpr:
		if s, ok := l.literalCondition(n); ok {
			return s, true
		}
		return l.compare(n)
	case *ast.TypeAssertExpr:
		return l.typeAssert(n)
	case *ast.UnaryExpr:
		if s, ok := l.received(n); ok {
			return s, true
		}
		return l.address(n)
	case *ast.StarExpr:
		return l.zero(n)
	case *ast.IndexExpr:
		if s, ok := l.indexed(n); ok {
			return s, true
		}
		return l.explicit(n, n.X)
	case *ast.IndexListExpr:
		return l.explicit(n, n.X)
	case *ast.SelectorExpr:
		s, ok := l.selector(n)
		if l.boolOfResult(n) {
			if !ok {
				s = l.inner(n)
			}
			t := l.typeOf(n)
			return l.toBool(s, t, t), true
		}
		return s, ok
	case *ast.Ident:
		return l.ident(n)
	case *ast.BasicLit:
		return string(l.src.text[l.src.off(n.Pos()):l.src.off(n.End())]), true
	}
	return "", false
}

// begin prepares for one declaration.
func (l *lowering) begin(n ast.Node) {
	l.n, l.stack = 0, nil
	l.label, l.esc, l.direct = map[ast.Stmt]string{}, map[types.Object]bool{}, map[*ast.FuncLit]string{}
	l.called, l.becomes, l.indices = map[ast.Expr]bool{}, map[ast.Expr]types.Type{}, map[ast.Expr]bool{}
	l.receives, l.unnamed = map[ast.Expr]bool{}, map[*ast.Field]bool{}
	l.places = map[ast.Expr]bool{}
	l.literals, l.keyed, l.clauses = map[ast.Expr]bool{}, map[ast.Expr]bool{}, map[ast.Stmt]bool{}
	l.findEscapes(n)
	if l.src.shared {
		clear(l.esc) // as they are in yaegi
	}
}
