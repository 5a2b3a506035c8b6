package worker

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{"nothing", " ", nil},
		{"words", "a  b\tc ", []string{"a", "b", "c"}},
		{"quotes", `-n="a b" 'c "d"' e`, []string{"-n=a b", `c "d"`, "e"}},
		{"an empty word", `a ""`, []string{"a", ""}},
		{"a quote that stays open", `a "b c`, []string{"a", "b c"}},
	} {
		if got := words(c.line); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Setenv("HOME", "/home/gopher")
	t.Setenv("SUB", "x y")
	for arg, want := range map[string]string{
		"a b": "a b", `"a b"`: "a b", "~": "/home/gopher", "~/a": "/home/gopher/a", "~a": "~a", "${SUB}/$SUB": "x y/x y", "": "",
	} {
		if got := path(arg); got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
}

func TestFlagsAreForgottenWhereTheyAreDefinedAgain(t *testing.T) {
	before := flag.CommandLine
	defer func() { flag.CommandLine = before }()
	flag.CommandLine = flag.NewFlagSet("", flag.PanicOnError)
	kept := flag.Int("kept", 1, "")
	flag.Int("again", 2, "")
	forgetFlags(`x := "again"`)
	if flag.Lookup("again") == nil {
		t.Error("a cell without flags forgets one")
	}
	forgetFlags(`flag.Int("again", 3, "")`)
	flag.Int("again", 3, "")
	flag.CommandLine.Parse([]string{"-kept=5", "-again=6"})
	if *kept != 5 || flag.Lookup("kept").DefValue != "1" || flag.Lookup("again").DefValue != "3" {
		t.Errorf("kept is %d, %+v, %+v", *kept, flag.Lookup("kept"), flag.Lookup("again"))
	}
}

func TestDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c", "(sleep 100; true) & sleep 100; true")
	if err := cmd.Start(); err != nil {
		t.Skip("no sh:", err)
	}
	deadline := time.Now().Add(10 * time.Second)
	list := descendants(cmd.Process.Pid)
	for ; len(list) < 4; list = descendants(cmd.Process.Pid) { // sh, sh, sleep, sleep
		if time.Now().After(deadline) {
			t.Fatalf("only %v within 10 s", list)
		}
	}
	if slices.Contains(list, os.Getpid()) {
		t.Error("we are our child's child")
	}
	for _, pid := range list {
		p, _ := os.FindProcess(pid)
		p.Kill()
	}
	cmd.Wait()
}

func TestACommandThatCannotBeStarted(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"script", "no-such-program a", "no-such-program"}, {"script", "", "which command"}, {"bash", "-x", "no arguments"},
		{"writefile", "", "which file"}, {"load", "", "no such file"}, {"env", "=x", "invalid argument"}, {"quack", "", "unknown"},
	} {
		d := command(context.Background(), Cells{}, Job{N: 1, Command: &Command{Name: c.name, Args: c.args}})
		if d.Failure == nil || d.Failure.Kind != CommandFailed || !strings.Contains(d.Failure.Message, c.want) {
			t.Errorf("%s %s: %+v, want %s", c.name, c.args, d.Failure, c.want)
		}
	}
}
