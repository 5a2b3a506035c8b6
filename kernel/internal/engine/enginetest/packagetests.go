package enginetest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// PackageTests runs the standard library's tests of the packages in list, as
// far as they see them from outside: the files of package slices_test, say, are
// one cell, whose main runs each test function. A line of the list is a path,
// the files that are left out, and the tests that are; with -short among them
// the tests are as short as they can.
func PackageTests(t *testing.T, open func() (engine.Engine, error), list string) {
	src := filepath.Join(filepath.Dir(goTests(t)), "src")
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		path, without := fields[0], fields[1:]
		t.Run(path, func(t *testing.T) {
			dir := filepath.Join(src, filepath.FromSlash(path))
			if slices.Contains(without, "-short") && !testing.Short() {
				short := flag.Lookup("test.short").Value
				short.Set("true")
				defer short.Set("false")
			}
			source := testProgram(t, dir, without)
			t.Chdir(dir)
			e, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			c, err := cell.NewScope(exports.Importer(), cell.Prelude{}).Check(1, source)
			if err != nil {
				t.Fatal("check: ", err)
			}
			limit := time.Minute
			if Race {
				limit *= 5
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			var out engine.Outcome
			printed := capture(func() { out = e.Run(ctx, c) })
			if out.Failure != nil || !strings.HasSuffix(printed, "all passed\n") {
				t.Errorf("%v\n%s", out.Failure, printed)
			}
		})
	}
}

// testProgram is one program of the test files in a folder that are of a
// package of their own, without what is only for those inside.
func testProgram(t *testing.T, dir string, without []string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	imports, body := []string{`"testing"`, `"fmt"`}, bytes.Buffer{}
	outside := ""
	for _, file := range files {
		if ok, err := build.Default.MatchFile(dir, filepath.Base(file)); err != nil || !ok {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f.Name.Name, "_test") || slices.Contains(without, filepath.Base(file)) {
			continue
		}
		outside = f.Name.Name
		for _, s := range f.Imports {
			if text := string(source[s.Pos()-f.FileStart : s.End()-f.FileStart]); !slices.Contains(imports, text) {
				imports = append(imports, text)
			}
		}
		at := f.Name.End()
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				at = d.End()
			}
		}
		body.Write(source[at-f.FileStart:])
		body.WriteByte('\n')
	}
	text := strings.ReplaceAll(body.String(), outside+".", "main.") // names of types
	source, tests := prune(t, "package main\nimport "+strings.Join(imports, "\nimport ")+"\nvar _ = fmt.Sprint\n"+text, without)
	if len(tests) == 0 {
		t.Fatal("no tests are left")
	}
	var b strings.Builder
	b.WriteString(source + "\nfunc main() {\n\tmatch := func(string, string) (bool, error) { return true, nil }\n\tif testing.RunTests(match, []testing.InternalTest{\n")
	for _, name := range tests {
		fmt.Fprintf(&b, "\t\t{%q, %s},\n", name, name)
	}
	b.WriteString("\t}) {\n\t\tfmt.Println(\"all passed\")\n\t}\n}\n")
	return b.String()
}

// prune removes the declarations that do not check, and those named, until all
// does. It returns the tests that are left, too.
func prune(t *testing.T, source string, without []string) (text string, tests []string) {
	t.Helper()
	for range 30 {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "tests.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		drop := map[ast.Node]bool{}
		conf := types.Config{Importer: exports.Importer(), GoVersion: "go1.26", Error: func(err error) {
			if n := declared(f, err.(types.Error).Pos); n != nil {
				drop[n] = true
			}
		}}
		conf.Check("main", fset, []*ast.File{f}, nil)
		tests = nil
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Body == nil {
				drop[d] = true
			}
			if !ok || fn.Recv != nil {
				continue
			}
			name := fn.Name.Name
			if slices.Contains(without, name) || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Benchmark") || name == "TestMain" {
				drop[d] = true
			} else if strings.HasPrefix(name, "Test") {
				tests = append(tests, name)
			}
		}
		if len(drop) == 0 {
			return source, tests
		}
		left := []byte(source)
		for n := range drop {
			for i := n.Pos() - f.FileStart; i < n.End()-f.FileStart; i++ {
				if left[i] != '\n' {
					left[i] = ' '
				}
			}
		}
		source = string(left)
	}
	t.Fatal("it never checks")
	return "", nil
}

// declared is the declaration at a position, of one import or more names.
func declared(f *ast.File, pos token.Pos) ast.Node {
	for _, d := range f.Decls {
		if d.Pos() <= pos && pos < d.End() {
			if g, ok := d.(*ast.GenDecl); ok && g.Lparen.IsValid() && g.Tok != token.CONST {
				for _, s := range g.Specs {
					if s.Pos() <= pos && pos < s.End() {
						return s
					}
				}
			}
			return d
		}
	}
	return nil
}
