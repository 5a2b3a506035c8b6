package enginetest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// packages are Go packages by name, each a map of files by name.
type packages map[string]map[string]string

// needGo skips a test where there is no go command.
func needGo(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no go command")
		}
		t.Skip("no go command")
	}
}

// runCompiled compiles packages into one program and returns what each of their
// functions prints, "p.Run": nothing if it takes longer than limit. A panic
// that leaves it is a last line "panic: ..."; where the process ended, what it
// said ends the text.
func runCompiled(dir string, ps packages, functions []string, limit time.Duration) (map[string]string, error) {
	var imports, table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(ps)) {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
		for file, text := range ps[name] {
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(&imports, "import %q\n", "compiled/"+name)
	}
	for _, name := range functions {
		fmt.Fprintf(&table, "\t%q: %s,\n", name, name)
	}
	for name, text := range map[string]string{
		"go.mod":  "module compiled\n\ngo 1.26\n",
		"main.go": "package main\n\n" + imports.String() + "\nvar runs = map[string]func(){\n" + table.String() + "}\n",
		"run.go":  runner,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	program := filepath.Join(dir, "compiled.exe")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	r := map[string]string{}
	for names := functions; len(names) > 0; {
		cmd := exec.Command(program, append([]string{limit.String()}, names...)...)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		parts := strings.Split(string(out), mark)[1:]
		if len(parts) == 0 {
			return nil, fmt.Errorf("run compiled programs: %w\n%s", err, said.String())
		}
		for i, text := range parts {
			r[names[i]] = text
		}
		if err != nil { // the last that began ended the process
			r[names[len(parts)-1]] += said.String()
			if cmd.ProcessState.ExitCode() == endless {
				r[names[len(parts)-1]] = ""
			}
		}
		names = names[len(parts):]
	}
	return r, nil
}

// mark stands before what each program prints.
const mark = "\n--- program ---\n"

// endless is the exit status of a program in which a function does not end.
const endless = 97

// runner is the main function of a program that runs others.
const runner = `package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	limit, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, name := range os.Args[2:] {
		fmt.Print(` + "`" + mark + "`" + `)
		t := time.AfterFunc(limit, func() { os.Exit(97) })
		run(runs[name])
		t.Stop()
	}
}

func run(f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("panic:", r)
		}
	}()
	f()
}
`
