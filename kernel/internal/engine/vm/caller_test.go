package vm

import (
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// A program that asks who calls is told the same when it is compiled, but for
// the file's name.
func TestCallersAgreeWithCompiledGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	const file = "testdata/callers/main.go"
	want, err := exec.Command("go", "run", "-gcflags=-l", file).CombinedOutput()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, want)
	}
	keepLogging(t)
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	printed, out, err := enginetest.Open(t, newEngine).Run(t.Context(), string(source))
	if err != nil || out.Failure != nil {
		t.Fatalf("%v %+v\n%s", err, out.Failure, printed)
	}
	got, right := strings.Split(strings.ReplaceAll(printed, "In[1]", "main.go"), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(right)) {
		if i >= len(got) || i >= len(right) || got[i] != right[i] {
			t.Fatalf("line %d differs:\n%s\nGo:\n%s", i+1, strings.Join(got[i:], "\n"), strings.Join(right[i:], "\n"))
		}
	}
}

// What a cell's own statements, functions of earlier cells and tests say.
func TestCallersInCells(t *testing.T) {
	keepLogging(t)
	nb := enginetest.Open(t, newEngine)
	for i, c := range []struct{ source, want string }{
		{"import \"log\"\nimport \"os\"\nfunc say(s string) {\n\tlog.Output(2, s)\n\tlog.Print(s)\n}\nlog.SetOutput(os.Stdout)\nlog.SetFlags(log.Lshortfile)\nsay(\"a\")", "In[1]:9: a\nIn[1]:5: a\n"},
		{"\nlog.SetOutput(os.Stdout)\nsay(\"b\")\nfunc() { log.Panic(\"c\") }()", "In[2]:3: b\nIn[1]:5: b\nIn[2]:4: c\n"},
		{"import \"fmt\"\nimport \"runtime\"\npc, file, line, ok := runtime.Caller(0)\nfmt.Println(runtime.FuncForPC(pc).Name(), file, line, ok)", "main.main In[3] 3 true\n"},
		{`import "testing"
func check(t *testing.T, ok bool) {
	t.Helper()
	if !ok {
		t.Errorf("no\n%d", 1)
	}
}
func TestX(t *testing.T) {
	t.Log("log", 1)
	check(t, false)
	t.Run("sub", func(t *testing.T) { t.Skip("later") })
	var tb testing.TB = t
	tb.Fatal("end")
}
testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{"TestX", TestX}})`,
			"--- FAIL: TestX (0.00s)\n    In[4]:9: log 1\n    In[4]:10: no\n        1\n    In[4]:13: end\n"},
	} {
		printed, _, err := nb.Run(t.Context(), c.source)
		if err != nil || !strings.HasPrefix(printed, c.want) {
			t.Errorf("In[%d] prints %v\n%swant\n%s", i+1, err, printed, c.want)
		}
	}
}

// keepLogging undoes at the end what cells set for the process.
func keepLogging(t *testing.T) {
	logger, w, flags, prefix := slog.Default(), log.Writer(), log.Flags(), log.Prefix()
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(w)
		log.SetFlags(flags)
		log.SetPrefix(prefix)
	})
}
