package cell_test

import (
	"go/scanner"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMutantsAreToldAsTheCompilerTells changes one token of small programs of
// the Go project's own tests, and compares the first error of Check with the
// compiler's. Some differ because a cell is no file: what follows a function
// that ends too early are statements. But what Go refuses Check does not
// accept.
func TestMutantsAreToldAsTheCompilerTells(t *testing.T) {
	compile := compiler(t)
	seeds := smallPrograms(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 400
	same, sameLine, wrong := 0, 0, 0
	var differ []string
	for range n {
		src := mutant(rng, seeds[rng.IntN(len(seeds))])
		if !wholeFile.MatchString(src) {
			continue // statements, as the compiler is told
		}
		theirs, ours := compile(t, src), report(t, src)
		if len(theirs) == 0 {
			if len(ours) > 0 && !strings.Contains(ours[0], "func main must have") && !strings.Contains(ours[0], "func init must have") {
				t.Errorf("Go accepts this, Check says %q:\n%s", ours, src)
			}
			continue
		}
		wrong++
		switch {
		case len(ours) == 0:
			if !allowedInCells.MatchString(theirs[0]) {
				t.Errorf("Check accepts this, Go says %q:\n%s", theirs, src)
			}
		case ours[0] == theirs[0]:
			same++
			continue
		case lineOf(ours[0]) == lineOf(theirs[0]):
			sameLine++
		}
		differ = append(differ, strings.Join(append(theirs[:1:1], ours...), " | "))
	}
	t.Logf("of %d, %d have the compiler's first error, and %d more one in its line", wrong, same, sameLine)
	if wrong < n/2 || same*100 < wrong*85 || (same+sameLine)*100 < wrong*94 {
		t.Errorf("too few; the others:\n%s", strings.Join(differ, "\n"))
	}
}

var allowedInCells = regexp.MustCompile(`method has no receiver|non-declaration statement|imports must appear|misplaced compiler directive|is not used|illegal types for operand: print`)

func lineOf(diagnostic string) string { line, _, _ := strings.Cut(diagnostic, ":"); return line }

// smallPrograms are programs that import fmt at most, without what is before
// their declarations.
func smallPrograms(t *testing.T) (list []string) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "test", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, src, ok := strings.Cut(string(data), "package main\n")
		src = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(src), `import "fmt"`))
		if ok && len(data) < 3000 && strings.HasPrefix(string(data), "// run\n") && wholeFile.MatchString(src) && !strings.HasPrefix(src, "import") {
			list = append(list, src)
		}
	}
	if len(list) < 20 {
		t.Skipf("only %d programs in %s", len(list), names)
	}
	return list
}

var mutations = strings.Split("( ) { } [ ] , ; : := = x 1 \"a\" 'a' if for func return type var const + * . int string nil else range case go defer struct interface ... <- ! _ @ \n", " ")

// mutant deletes, inserts or replaces one token.
func mutant(rng *rand.Rand, src string) string {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var sc scanner.Scanner
	sc.Init(file, []byte(src), nil, 0)
	type span struct{ off, end int }
	var toks []span
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF {
			break
		}
		if lit == "" {
			lit = tok.String()
		}
		if lit != "\n" {
			toks = append(toks, span{file.Offset(pos), file.Offset(pos) + len(lit)})
		}
	}
	at, other := toks[rng.IntN(len(toks))], toks[rng.IntN(len(toks))]
	word := mutations[rng.IntN(len(mutations))]
	switch rng.IntN(4) {
	case 0:
		return src[:at.off] + src[at.end:]
	case 1:
		return src[:at.off] + word + " " + src[at.off:]
	case 2:
		return src[:at.off] + word + src[at.end:]
	}
	return src[:at.off] + src[other.off:other.end] + src[at.end:]
}
