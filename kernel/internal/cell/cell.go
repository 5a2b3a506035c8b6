package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Cell is a checked cell: a Go file that an engine can run.
//
// For the source
//
//	x := 1
//	func inc() { x++ }
//	inc()
//	x
//
// of In[3], Text is (line directives, which map every position back to the
// source, left out)
//
//	package main
//	func inc() { x++ }
//	func cell__3() {
//		x  = 1
//		inc()
//		x
//	}
//
// with x in Hoisted and the last statement's expression in Show.
type Cell struct {
	N      int    // execution count; In[N] is the file name in positions
	Source string // as the user wrote it

	// Text is the synthetic file that File is the syntax of. An identifier
	// cell__2_x in it means the x of In[2], where the cell declares x again:
	// its object in Info.Uses is that earlier x itself.
	Text []byte
	Fset *token.FileSet
	File *ast.File
	Pkg  *types.Package // path "main", one object a cell
	Info *types.Info

	// Body is the function of the cell's statements, in their order; nil when
	// the cell only declares.
	Body *ast.FuncDecl
	// Main is set when the cell is a program: package clause or not, it
	// declares main and has no statements, so main is what runs.
	Main bool
	// Hoisted are the variables that top-level := and var statements declare:
	// they live in the package scope and outlive the cell. At the statement
	// that declares it, Text assigns.
	Hoisted []*types.Var
	// Vars is the second file of Pkg, which declares Hoisted; nil if there are
	// none. An engine that wants each variable declared in syntax, as go/ssa
	// does, takes it beside File. Its initial values are not for running: they
	// are not in Info.InitOrder.
	Vars *ast.File
	// Show is the expression of the last statement whose values the notebook
	// shows: it has at least one value, no trailing semicolon, and is no
	// assignment. It stands in Body as an expression statement, of any
	// expression, which Go itself would refuse as unused. Nil when there is
	// nothing to show; a trailing semicolon leaves the statement as it is.
	Show ast.Expr
	// Defines are all package-level objects that the cell declares: Hoisted,
	// functions, types, constants. Among them are those of earlier cells that
	// Text declares again, because they refer to what this cell changes; their
	// positions lie in the cells that wrote them.
	Defines []types.Object
	// Imports are the packages that the cell uses, named or implied, by the
	// name under which it uses them.
	Imports []*types.PkgName
	// Packages are those that run from their source and that the cell's
	// imports need, imported ones first. An engine loads those that it has not
	// yet, before the cell runs, though the cell may use none of them.
	Packages []*Package
	// Replaces pairs functions and variables of Defines with the earlier ones
	// that had their name and an identical type. A new variable shares the
	// storage of the one it replaces; calls of the earlier function, from
	// cells that ran before, call the new one from now on.
	Replaces map[types.Object]types.Object

	named map[string]string // packages imported by an import declaration: name to path
	dots  []string          // paths of dot imports

	pieces  []*piece          // declarations, those of earlier cells included
	changed map[string]bool   // names that mean another type than before
	lost    map[string]string // names left behind that no longer check, and the changed name they rely on
	dropped []*piece          // methods left behind
}

// Diagnostic is one thing wrong with a cell.
type Diagnostic struct {
	Line, Col  int    // in the cell's source, from 1; Col counts bytes
	Msg        string // as the Go compiler says it
	Hint       string // what to do about it, or empty
	Incomplete bool   // more input could cure it
}

// Diagnostics is the error of a cell that does not check; never empty.
type Diagnostics []Diagnostic
