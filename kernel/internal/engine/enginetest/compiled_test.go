package enginetest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/cell"
	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// What the scripts expect is what compiled Go prints: the cells of each script
// marked as compiled become a package of one program.
func TestScriptsAgreeWithCompiledGo(t *testing.T) {
	run := compiled(t, func(s Script) bool { return s.Compiled })
	for _, s := range Scripts(t) {
		if !s.Compiled {
			continue
		}
		out, _, err := run(s)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		var want []string
		for _, c := range s.Cells {
			for _, l := range c.Want {
				if rest, ok := strings.CutPrefix(l, ">"); ok {
					want = append(want, strings.TrimPrefix(rest, " "))
				}
			}
		}
		var got []string
		for l := range strings.Lines(out) {
			got = append(got, strings.TrimRight(l, " \n"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: compiled Go prints\n%s\nthe script says\n%s", s.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

var (
	failureLine = regexp.MustCompile(`^! panic (.*?)( \[in a goroutine\])?((?: @ In\[\d+\]:\d+(?: \S+)?)*)$`)
	ownPackage  = regexp.MustCompile(`\bp\d+\.`)
	failureAt   = regexp.MustCompile(`In\[\d+\]:\d+`)
)

// TestPanicsAgreeWithCompiledGo runs the scripts marked as panics, whose last
// cell panics: the message is Go's, and the places are among those of its
// traceback, in its order, from the innermost on.
func TestPanicsAgreeWithCompiledGo(t *testing.T) {
	run := compiled(t, func(s Script) bool { return s.Panics })
	for _, s := range Scripts(t) {
		if !s.Panics {
			continue
		}
		want := s.Cells[len(s.Cells)-1].Want
		m := failureLine.FindStringSubmatch(want[len(want)-1])
		if m == nil {
			t.Errorf("%s: %q is no panic", s.Name, want)
			continue
		}
		_, stderr, err := run(s)
		if err == nil {
			t.Errorf("%s: compiled Go does not panic", s.Name)
			continue
		}
		head, trace, _ := strings.Cut(stderr, "\n\n")
		head, _, _ = strings.Cut(head, "\n[signal ")
		head = ownPackage.ReplaceAllString(strings.TrimPrefix(head, "panic: "), "main.")
		if m[2] != "" {
			head = strings.TrimSuffix(head, " [recovered, repanicked]") // by WaitGroup.Go
		}
		// Go indents lines.
		if got := strings.NewReplacer("\n", "; ", "\t", "").Replace(head); got != strings.ReplaceAll(m[1], "\t", "") {
			t.Errorf("%s: compiled Go panics with %q, the script says %q", s.Name, got, m[1])
		}
		trace, _, _ = strings.Cut(trace, "\ncreated by ")
		theirs, ours := failureAt.FindAllString(trace, -1), failureAt.FindAllString(m[3], -1)
		if len(ours) == 0 || len(theirs) == 0 || ours[0] != theirs[0] || !within(ours, theirs) {
			t.Errorf("%s: the places are %q in compiled Go, %q in the script", s.Name, theirs, ours)
		}
	}
}

// within reports whether the elements of list are among those of all, in the
// same order.
func within(list, all []string) bool {
	for _, x := range list {
		i := slices.Index(all, x)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

// compiled builds the scripts that choose wants as one Go program, and returns
// what runs one of them.
func compiled(t *testing.T, choose func(Script) bool) func(Script) (stdout, stderr string, err error) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no go command")
		}
		t.Skip("no go command")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var imports, runs strings.Builder
	names := map[string]string{}
	for _, s := range Scripts(t) {
		if !choose(s) {
			continue
		}
		pkg := fmt.Sprintf("p%d", len(names))
		for name, text := range goFiles(t, s, pkg) {
			write(pkg+"/"+name, text)
		}
		fmt.Fprintf(&imports, "import %q\n", "scripts/"+pkg)
		fmt.Fprintf(&runs, "\tcase %q: %s.Run()\n", pkg, pkg)
		names[s.Name] = pkg
	}
	if len(names) < 10 {
		t.Fatalf("only %d scripts are chosen", len(names))
	}
	write("go.mod", "module scripts\n\ngo 1.26\n")
	write("main.go", "package main\nimport \"os\"\n"+imports.String()+"func main() {\n\tswitch os.Args[1] {\n"+runs.String()+"\t}\n}\n")
	build := exec.Command("go", "build", "-o", "scripts", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(s Script) (string, string, error) {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(filepath.Join(dir, "scripts"), names[s.Name])
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		// Names of types have the package's, and those of type arguments its path.
		pkg := names[s.Name] + "."
		return strings.NewReplacer("scripts/"+pkg, "main.", pkg, "main.").Replace(stdout.String()), stderr.String(), err
	}
}

// goFiles writes a script as a Go package whose Run runs its cells.
func goFiles(t *testing.T, s Script, pkg string) map[string]string {
	t.Helper()
	files := map[string]string{}
	scope := cell.NewScope(exports.Importer(), cell.Prelude{Imports: exports.Names()})
	vars := map[string]bool{} // imports of the variables' types
	var decls, runs strings.Builder
	for i, source := range s.Cells {
		c, err := scope.Check(i+1, source.Source)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		scope.Commit(c)
		for _, v := range c.Hoisted {
			fmt.Fprintf(&decls, "var %s %s\n", v.Name(), types.TypeString(v.Type(), func(p *types.Package) string {
				if p.Path() == "main" {
					return ""
				}
				vars[p.Path()] = true
				return p.Name()
			}))
		}
		files[fmt.Sprintf("cell%d.go", c.N)] = goFile(c, pkg)
		if c.Body != nil {
			fmt.Fprintf(&runs, "\t%s()\n", c.Body.Name.Name)
		}
	}
	head := "package " + pkg + "\n"
	for p := range vars {
		head += fmt.Sprintf("import %q\n", p)
	}
	files["vars.go"] = head + decls.String() + "func show(...any) {}\nfunc Run() {\n" + runs.String() + "}\n"
	return files
}

// goFile is a cell's text with the imports that it uses, and its last
// expression used.
func goFile(c *cell.Cell, pkg string) string {
	var b bytes.Buffer
	b.WriteString("package " + pkg + "\n")
	seen := map[string]bool{}
	for _, p := range c.Imports {
		if !seen[p.Name()] {
			fmt.Fprintf(&b, "import %s %q\n", p.Name(), p.Imported().Path())
			seen[p.Name()] = true
		}
	}
	off := func(n ast.Node, end bool) int {
		if end {
			return c.Fset.PositionFor(n.End(), false).Offset
		}
		return c.Fset.PositionFor(n.Pos(), false).Offset
	}
	for _, d := range c.File.Decls {
		if g, ok := d.(*ast.GenDecl); ok && len(g.Specs) > 0 {
			if _, ok := g.Specs[0].(*ast.ImportSpec); ok {
				continue
			}
		}
		from := off(d, false)
		at := c.Fset.Position(d.Pos())
		fmt.Fprintf(&b, "/*line %s:%d:%d*/", at.Filename, at.Line, at.Column)
		if d == ast.Decl(c.Body) && c.Show != nil {
			b.Write(c.Text[from:off(c.Show, false)])
			b.WriteString("show(")
			b.Write(c.Text[off(c.Show, false):off(c.Show, true)])
			b.WriteString(")")
			from = off(c.Show, true)
		}
		b.Write(c.Text[from:off(d, true)])
		b.WriteString("\n")
	}
	return b.String()
}
