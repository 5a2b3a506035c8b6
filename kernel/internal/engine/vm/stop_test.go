package vm

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// What an interrupted cell prints has been read when the cell ends, however late
// the reader is, and nothing comes after it.
func TestWhatPrintsIsWaitedFor(t *testing.T) {
	if enginetest.Race {
		t.Skip("it takes the place of os.Stdout while a cell prints")
	}
	for _, source := range []string{
		"import \"fmt\"\nfor { fmt.Println(\"flood\") }",
		"import \"fmt\"\nfor range 4 { go func() { for { fmt.Println(\"flood\") } }() }\nselect {}",
		"import \"os\"\nfor { os.Stdout.WriteString(\"flood\\n\") }",
		"import (\n\"bufio\"\n\"fmt\"\n\"os\"\n)\nw := bufio.NewWriter(os.Stdout)\nfor { fmt.Fprintln(w, \"flood\"); w.Flush() }",
	} {
		nb := enginetest.Open(t, newEngine)
		c, err := nb.Scope.Check(1, source)
		if err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout := os.Stdout
		os.Stdout = w
		ctx, cancel := context.WithCancel(context.Background())
		read := make(chan string)
		go func() {
			r.Read(make([]byte, len("flood\n")))
			time.Sleep(100 * time.Millisecond) // then the pipe is full
			cancel()
			time.Sleep(10 * patience)
			data, _ := io.ReadAll(r)
			read <- string(data)
		}()
		out := nb.Engine.Run(ctx, c)
		os.Stdout = stdout
		if out.Failure == nil || out.Failure.Kind != engine.Interrupt || out.Failure.Message != "interrupted" {
			t.Errorf("%s: got %+v", source, out.Failure)
		}
		w.WriteString("next\n")
		time.Sleep(50 * time.Millisecond) // for what should not come
		w.Close()
		if text := <-read; !strings.HasPrefix(text, "flood\n") || !strings.HasSuffix(text, "flood\nnext\n") {
			t.Errorf("%s: the last that comes is %q", source, text[max(0, len(text)-50):])
		}
		r.Close()
	}
}
