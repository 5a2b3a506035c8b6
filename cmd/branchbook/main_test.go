package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/branchbook/branchbook/lib/llm"
	"github.com/branchbook/branchbook/lib/llm/llmtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"branchbook": main})
}

// TestScript runs the stories in testdata/script. Beside testscript's own
// commands they have
//
//	tiny FILE             write a tiny model with random weights
//	cut FILE              leave the first half of a file
//	awaitfile FILE        wait until another process has made the file
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("BRANCHBOOK_MODELS", env.WorkDir+"/models")
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv(engineVariable, os.Getenv(engineVariable))
			return os.Mkdir(env.WorkDir+"/home", 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"tiny":      tiny,
			"cut":       cut,
			"awaitfile": awaitFile,
		},
	})
}

func oneFile(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) != 1 {
		ts.Fatalf("want one file and no !")
	}
	return ts.MkAbs(args[0])
}

func tiny(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(oneFile(ts, neg, args), llmtest.Tiny{}.File(), 0o644))
}

func cut(ts *testscript.TestScript, neg bool, args []string) {
	path := oneFile(ts, neg, args)
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()/2))
}

func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	path := oneFile(ts, neg, args)
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s: nobody made it", path)
}

func TestWithoutColours(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain text", "plain", "plain"},
		{"a colour and its end", "a\x1b[31mred\x1b[0mb", "aredb"},
		{"several in one", "\x1b[1;38;5;9mx", "x"},
		{"another sequence stays", "\x1b[2Kx\x1b[0m", "\x1b[2Kx"},
		{"cut short", "x\x1b[3", "x\x1b[3"},
		{"an empty one", "\x1b[mx", "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := withoutColours(test.in); got != test.want {
				t.Errorf("withoutColours(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

// The KV cache is llama.cpp's: for SmolLM2-135M it prints 90.00 MiB at 4,096
// tokens (30 layers of 3 heads with 64 numbers for keys and 64 for values).
func TestCacheBytes(t *testing.T) {
	file := func(pairs ...string) *llm.File {
		f := &llm.File{Architecture: "llama", Metadata: map[string]string{}}
		for _, p := range pairs {
			key, value, _ := strings.Cut(p, "=")
			f.Metadata["llama."+key] = value
		}
		return f
	}
	smol := []string{"block_count=30", "attention.head_count=9", "attention.head_count_kv=3", "embedding_length=576"}
	for _, test := range []struct {
		name string
		file *llm.File
		want int64
		ok   bool
	}{
		{"grouped heads", file(smol...), 90 << 20, true},
		{"as many heads for keys as for queries", file(smol[0], smol[1], smol[3]), 270 << 20, true},
		{"key length of its own", file(append(smol, "attention.key_length=128")...), 135 << 20, true},
		{"a sliding window", file(append(smol, "attention.sliding_window=512")...), 0, false},
		{"no attention", file("block_count=30", "ssm.state_size=16"), 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := cacheBytes(test.file, 4096); got != test.want || ok != test.ok {
				t.Errorf("%d, %v; want %d, %v", got, ok, test.want, test.ok)
			}
		})
	}
}
