// Package vm runs checked cells as compiled Go would run them: on a virtual
// machine over golang.org/x/tools/go/ssa, whose values lie in memory as
// compiled values do.
//
//	e, err := vm.New(vm.Options{Importer: imp, Symbols: symbols})
//	out := e.Run(ctx, c) // c from cell.Scope.Check
//	if out.Failure != nil { ... }
//
// README.md is the theory. What the package never does: checking (package cell
// does), or printing.
package vm
