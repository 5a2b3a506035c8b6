package cell_test

import (
	"errors"
	"fmt"
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

// TestDiagnosticsAreTheCompilers gives the cells of testdata/compiler, in
// which something is wrong, to the Go compiler too: its errors, by line,
// column and words, are what Check has to report.
//
// A line "// body" in a cell begins what is the body of a function to the
// compiler; without it, all of a cell is that which does not begin with a
// declaration. Where we differ, lines at a case's end that begin with "!" are
// what Check reports, after a line "# " with the reason.
func TestDiagnosticsAreTheCompilers(t *testing.T) {
	compile := compiler(t)
	for _, name := range files(t, "testdata/compiler/*.txt") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(name), ".txt")
		for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
			title, body, _ := strings.Cut(part, "\n")
			t.Run(group+"/"+title, func(t *testing.T) {
				t.Parallel()
				src, reason, ours := cutExpectation(body)
				theirs := compile(t, src)
				if len(theirs) == 0 && len(ours) == 0 {
					t.Fatal("the compiler finds nothing wrong")
				}
				want := theirs
				if reason != "" {
					if want = ours; slices.Equal(ours, theirs) {
						t.Error("the compiler says the same: no reason to differ")
					}
				}
				if got := report(t, src); !slices.Equal(got, want) {
					t.Errorf("%s\n got\n\t%s\n want\n\t%s", src, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
				}
			})
		}
	}
}

// cutExpectation takes the lines off a case's end that say what we report.
func cutExpectation(body string) (src, reason string, ours []string) {
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for k := len(lines) - 1; k > 0; k-- {
		if rest, ok := strings.CutPrefix(lines[k], "! "); ok {
			ours = append([]string{rest}, ours...)
			continue
		}
		if rest, ok := strings.CutPrefix(lines[k], "# "); ok {
			return strings.Join(lines[:k], "\n"), rest, ours
		}
		break
	}
	return strings.Join(lines, "\n"), "", nil
}

// report is what Check reports of a first cell, without the hints.
func report(t *testing.T, src string) (lines []string) {
	_, err := cell.NewScope(exports.Importer(), prelude).Check(1, src)
	var diags cell.Diagnostics
	if err != nil && !errors.As(err, &diags) {
		t.Fatalf("error is a %T", err)
	}
	for _, d := range diags {
		lines = append(lines, fmt.Sprintf("%d:%d: %s", d.Line, d.Col, strings.ReplaceAll(d.Msg, "\n", "; ")))
	}
	return lines
}

var wholeFile = regexp.MustCompile(`^(import|func|type|const|var)\b`)

// program writes a cell as a Go file. Line directives make it "cell".
func program(src string) string {
	head, body, both := strings.Cut(src, "// body\n")
	switch {
	case both:
	case wholeFile.MatchString(src):
		head = src
	default:
		head, body = "", src
	}
	var b strings.Builder
	b.WriteString("package p\n")
	for _, name := range []string{"fmt", "strings", "slices", "time"} {
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(src) {
			fmt.Fprintf(&b, "import %q\n", name)
		}
	}
	fmt.Fprintf(&b, "/*line cell:1:1*/%s\n", head)
	if body != "" {
		fmt.Fprintf(&b, "func cell() {\n/*line cell:%d:1*/%s\n//line end:1\n}\n", strings.Count(head, "\n")+1+strings.Count(src, "// body\n"), body)
	}
	return b.String()
}

// compiler returns the Go compiler as a function from cells to errors.
func compiler(t *testing.T) func(t *testing.T, src string) []string {
	t.Helper()
	output := func(arg ...string) string {
		out, err := exec.Command("go", arg...).Output()
		if err != nil {
			if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
				t.Fatal(err)
			}
			t.Skip("no go command: ", err)
		}
		return string(out)
	}
	path := strings.TrimSpace(output("tool", "-n", "compile"))
	config := filepath.Join(t.TempDir(), "importcfg")
	packages := output("list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", "fmt", "strings", "slices", "time")
	if err := os.WriteFile(config, []byte(packages), 0o644); err != nil {
		t.Fatal(err)
	}
	slots := make(chan struct{}, 2)
	return func(t *testing.T, src string) []string {
		slots <- struct{}{}
		defer func() { <-slots }()
		dir := t.TempDir()
		file := filepath.Join(dir, "p.go")
		if err := os.WriteFile(file, []byte(program(src)), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "-p=p", "-lang=go1.26", "-complete", "-importcfg", config, "-o", filepath.Join(dir, "p.a"), file)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return compilerErrors(string(out))
	}
}

var elsewhere = regexp.MustCompile(`\bcell(:\d+:\d+)\[[^]]*\]`)

var compilerLine = regexp.MustCompile(`^(cell|end|.*p\.go):(\d+)(?::(\d+))?: (.*)$`)

// compilerErrors reads the compiler's output; notebooks allow what is not used.
func compilerErrors(out string) (list []string) {
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		m := compilerLine.FindStringSubmatch(line)
		switch {
		case m == nil && strings.HasPrefix(line, "\t") && len(list) > 0:
			if !strings.HasPrefix(line, "\tcell:") { // where something else is: a hint
				list[len(list)-1] += "; " + line
			}
		case m == nil || m[4] == "too many errors" || strings.Contains(m[4], "declared and not used: ") || strings.HasSuffix(m[4], "imported and not used"):
		case m[1] == "end" && len(list) > 0: // a consequence
		case m[1] != "cell":
			list = append(list, m[1]+": "+m[4])
		default:
			list = append(list, m[2]+":"+m[3]+": "+strings.TrimPrefix(elsewhere.ReplaceAllString(m[4], "In[1]$1"), "invalid syntax tree: "))
		}
	}
	return list
}
