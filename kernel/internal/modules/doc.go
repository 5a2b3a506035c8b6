// Package modules gives cells third-party modules, as source.
//
// The go command resolves and downloads them, in a private module of the
// notebook; what came out is a [Listing], which is data: it goes through pipes
// and outlives the processes. A [Set] is an importer of the embedded packages
// and of those that a listing has; it parses and checks them itself, with the
// build tags that choose plain Go.
//
//	next, err := modules.Command{}.Get(ctx, modules.Listing{}, []string{"github.com/samber/lo@v1.49.1"})
//	set := modules.NewSet(true)
//	set.Use(next)
//	scope := cell.NewScope(set, cell.Prelude{}) // import "github.com/samber/lo" works
//
// It runs no code of a module, and never touches the network but through the
// go command that Get starts. The user's GOPROXY, GOPRIVATE, GOFLAGS and
// module cache are those that the go command finds.
package modules
