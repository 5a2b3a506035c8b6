// Package cell turns what a user writes in a cell into checked Go.
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

	Text []byte // the synthetic file that File is the syntax of
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
	// Show is the expression of the last statement whose values the notebook
	// shows: it has at least one value, no trailing semicolon, and is no
	// assignment. It stands in Body as an expression statement. Nil when there
	// is nothing to show.
	Show ast.Expr
	// Defines are all package-level objects that the cell declares: Hoisted,
	// functions, types, constants.
	Defines []types.Object
	// Imports are the packages that the cell uses, named or implied, by the
	// name under which it uses them.
	Imports []*types.PkgName
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
