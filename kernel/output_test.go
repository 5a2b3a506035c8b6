package kernel_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/branchbook/branchbook/kernel/kerneltest"
)

// soaking is set where there is time for what is long.
var soaking = os.Getenv("BRANCHBOOK_SOAK") != ""

// cellText runs a cell to its end, and returns the text of its streams, its
// reply and how many messages it took. stop is when to interrupt it; 0 is never.
func cellText(k *kerneltest.Kernel, code string, stop time.Duration) (text [2]string, reply kerneltest.ExecuteReply, messages int) {
	r := k.Execute(code)
	r.Busy()
	if stop > 0 {
		time.Sleep(stop)
		k.Interrupt()
	}
	var b [2]strings.Builder
	for _, m := range r.UntilIdle() {
		messages++
		var c struct{ Name, Text string }
		if m.Header.MsgType == "stream" && json.Unmarshal(m.Content, &c) == nil {
			if c.Name == "stderr" {
				b[1].WriteString(c.Text)
			} else {
				b[0].WriteString(c.Text)
			}
		}
	}
	r.Reply(&reply)
	return [2]string{b[0].String(), b[1].String()}, reply, messages
}

// peak is the most memory, in bytes, that a process has had.
func peak(t *testing.T, pid int) (bytes int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d", &bytes); err == nil {
			return bytes << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

var inFile = regexp.MustCompile(`\[(\d+) bytes more are in (\S+?)(\]|, (\d+) bytes more were not kept\])`)

// TestAFloodIsCut prints a gigabyte, or 100 MB where time is short: the
// notebook gets ten, a file some of the rest, and the kernel does not grow.
func TestAFloodIsCut(t *testing.T) {
	size := 100 << 20
	if soaking {
		size = 1 << 30
	}
	const most = 300 << 20 // of the kernel's memory
	for _, test := range []struct {
		name, code string
		stream     int
		bytes      int
	}{
		{"lines", `line := []byte(strings.Repeat("x", 99) + "\n"); for range %d / 100 { os.Stdout.Write(line) }`, 0, size / 100 * 100},
		{"lines of errors", `line := []byte(strings.Repeat("x", 99) + "\n"); for range %d / 100 { os.Stderr.Write(line) }`, 1, size / 100 * 100},
		{"one line", `block := make([]byte, 1<<20); for range %d >> 20 { os.Stdout.Write(block) }`, 0, size},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := start(t)
			text, reply, messages := cellText(k, fmt.Sprintf(test.code, size), 0)
			if reply.Status != "ok" {
				t.Fatalf("%+v", reply)
			}
			visible, note, found := strings.Cut(text[1], "\n[output cut: ")
			if test.stream == 0 {
				visible = text[0]
			}
			match := inFile.FindStringSubmatch(note)
			if !found || match == nil {
				t.Fatalf("the user is told %.500q", text[1])
			}
			kept, _ := strconv.Atoi(match[1])
			gone, _ := strconv.Atoi(match[4])
			if info, err := os.Stat(match[2]); err != nil || info.Size() != int64(kept) {
				t.Errorf("the file is %v, %v; want %d bytes", info, err, kept)
			}
			if len(visible)+kept+gone != test.bytes || len(visible) < 9<<20 || len(visible) > 10<<20 || kept < min(test.bytes-len(visible), 128<<20) {
				t.Errorf("%d bytes are shown, %d kept, %d gone; %d were printed", len(visible), kept, gone, test.bytes)
			}
			if test.name != "one line" && strings.Trim(visible, "x\n") != "" {
				t.Error("what is shown is not what was printed")
			}
			if messages > 500 {
				t.Errorf("in %d messages", messages)
			}
			if got := peak(t, k.Process.Pid); got > most {
				t.Errorf("the kernel had %d MB", got>>20)
			}
			lines, _ := shown(t, k, "1 + 1", false)
			if strings.Join(lines, "") != "= 2" {
				t.Errorf("the next cell shows %q", lines)
			}
		})
	}
}

// TestAFloodIsInterrupted: what floods without end stops within a second, at any
// rate, and variables are kept (B13).
func TestAFloodIsInterrupted(t *testing.T) {
	length := 300 * time.Millisecond
	if soaking {
		length = 10 * time.Second
	}
	for _, env := range []string{"", "JPY_SESSION_NAME=nb.ipynb"} {
		for _, code := range []string{
			`for { fmt.Println("x") }`, `for { fmt.Fprintln(os.Stderr, "x") }`, `for { fmt.Println("x"); fmt.Fprintln(os.Stderr, "y") }`,
			`for { nb.Display("x") }`, `nb.DisplayID("a", 0); for i := 0; ; i++ { nb.Update("a", i) }`, `for { nb.Clear(true); fmt.Println("x") }`,
			`for i := 0; ; i++ { fmt.Printf("\r%d", i) }`, `for range 4 { go func() { for { fmt.Println("x") } }() }; select {}`,
			`!yes`,
		} {
			t.Run(code+env, func(t *testing.T) {
				k := start(t, append([]string{}, env)...)
				cell(k, "kept := 7")
				r := k.Execute(code)
				r.Busy()
				time.Sleep(length)
				began := time.Now()
				k.Interrupt()
				var reply kerneltest.ExecuteReply
				r.Reply(&reply)
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("stopped after %v", took)
				}
				if reply.EName != "Interrupted" {
					t.Errorf("%+v", reply)
				}
				streams, messages, stop := 0, 0, length.Seconds()+time.Since(began).Seconds()
				for _, m := range r.UntilIdle() {
					if messages++; m.Header.MsgType == "stream" {
						streams += len(m.Content)
					}
				}
				if most := 12 << 20; streams > most {
					t.Errorf("%d bytes of streams came", streams)
				}
				if most := 3_000_000 * (1 + stop/3); env != "" && float64(streams) > most+1<<20 {
					t.Errorf("%d bytes of streams came: a Jupyter server drops what is beyond %.0f", streams, most)
				}
				if most := 3000 * (1 + stop/3); float64(messages) > most {
					t.Errorf("%d messages came: a Jupyter server drops what is beyond %.0f", messages, most)
				}
				if lines, _ := shown(t, k, "kept", false); !strings.Contains(strings.Join(lines, "\n"), "= 7") {
					t.Errorf("afterwards the notebook shows %.300q", lines)
				}
				if got := peak(t, k.Process.Pid); got > 300<<20 {
					t.Errorf("the kernel had %d MB", got>>20)
				}
			})
		}
	}
}

func TestALongValueIsCut(t *testing.T) {
	k := start(t)
	for _, code := range []string{`strings.Repeat("y", 50_000_000)`, `make([]int, 10_000_000)`, `nb.Display(strings.Repeat("z", 50_000_000))`, `[]string{strings.Repeat("y", 50_000_000)}`} {
		r := k.Execute(code)
		size := 0
		for _, m := range r.UntilIdle() {
			size += len(m.Content)
		}
		if size > 1<<20 || size < 100 {
			t.Errorf("%s: %d bytes are shown", code, size)
		}
		r.Reply(nil)
	}
}

// TestASlowSubscriberGetsAllLines: one that reads a message now and then.
func TestASlowSubscriberGetsAllLines(t *testing.T) {
	k := start(t)
	next := kerneltest.SlowSubscriber(t, k.Connection)
	next() // the welcome
	const lines = 100_000
	r := k.Execute(fmt.Sprintf("for i := range %d { fmt.Println(\"line\", i); if i %% 1000 == 0 { nb.Display(i) } }", lines))
	r.UntilIdle() // the fast one is done
	want, got, displays := sha256.New(), sha256.New(), 0
	for i := range lines {
		fmt.Fprintln(want, "line", i)
	}
	for {
		m := next()
		time.Sleep(5 * time.Millisecond) // it is slow
		var content struct {
			Text  string
			State string `json:"execution_state"`
			Data  map[string]any
		}
		if err := json.Unmarshal(m.Content, &content); err != nil {
			t.Fatalf("after %d displays: %v: %v", displays, m, err)
		}
		switch m.Header.MsgType {
		case "stream":
			got.Write([]byte(content.Text))
		case "display_data":
			if content.Data["text/plain"] != strconv.Itoa(displays*1000) {
				t.Errorf("display %d is %v", displays, content.Data)
			}
			displays++
		}
		if content.State == "idle" {
			break
		}
	}
	if string(got.Sum(nil)) != string(want.Sum(nil)) || displays != 100 {
		t.Errorf("the lines differ, or the displays, of which %d came", displays)
	}
}

// TestOrder: whoever prints, a cell's output has the order in which it was made.
func TestOrder(t *testing.T) {
	k := start(t)
	r := k.Execute(`import "log/slog"
log.SetFlags(0)
l := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey { return slog.Attr{} }
	return a
}}))
w := bufio.NewWriter(os.Stdout)
for i := range 50 {
	fmt.Println("fmt", i)
	log.Println("log", i)
	os.Stdout.WriteString(fmt.Sprintln("file", i))
	l.Info("slog", "i", i)
	nb.Display(fmt.Sprint("display ", i))
	println("println", i)
	syscall.Write(1, fmt.Appendln(nil, "descriptor", i)) // as C does
	fmt.Fprintln(w, "buffer", i)
	w.Flush()
	fmt.Fprintln(os.Stderr, "err", i)
}
!echo shell
fmt.Println("last")`)
	var want, got strings.Builder
	for i := range 50 {
		fmt.Fprintf(&want, "fmt %d\nlog %d\nfile %d\nlevel=INFO msg=slog i=%d\ndisplay %d\nprintln %d\ndescriptor %d\nbuffer %d\nerr %d\n", i, i, i, i, i, i, i, i, i)
	}
	want.WriteString("shell\nlast\n")
	for _, m := range r.UntilIdle() {
		var c struct {
			Text string
			Data map[string]any
		}
		if err := json.Unmarshal(m.Content, &c); err != nil {
			t.Fatal(err)
		}
		got.WriteString(c.Text)
		if text, ok := c.Data["text/plain"].(string); ok {
			got.WriteString(text + "\n")
		}
	}
	var reply kerneltest.ExecuteReply
	if r.Reply(&reply); reply.Status != "ok" {
		t.Fatalf("%+v", reply)
	}
	if got.String() != want.String() {
		for i, line := range strings.Split(want.String(), "\n") {
			if g := strings.Split(got.String()+strings.Repeat("\n", 500), "\n")[i]; g != line {
				t.Fatalf("line %d is %q, want %q", i, g, line)
			}
		}
	}
}

// TestAnyBytes: what is text stays as it is, what is none is replaced, wherever
// the pipe cuts it (B4).
func TestAnyBytes(t *testing.T) {
	k := start(t)
	for _, test := range []struct{ name, code, want string }{
		{"NUL", `os.Stdout.WriteString("a\x00b\n");`, "a\x00b\n"},
		{"carriage returns", `for i := range 3 { fmt.Printf("\r%d%%", i) }; fmt.Print("\r\n")`, "\r0%\r1%\r2%\r\n"},
		{"ANSI", `fmt.Print("\x1b[31mred\x1b[0m\x1b[2K\x1b[1A")`, "\x1b[31mred\x1b[0m\x1b[2K\x1b[1A"},
		{"a rune in pieces", `for _, b := range []byte("é€😀") { os.Stdout.Write([]byte{b}); time.Sleep(60 * time.Millisecond) }`, "é€😀"},
		{"a rune in pieces, among errors", `for _, b := range []byte("é€😀") { os.Stdout.Write([]byte{b}); os.Stderr.WriteString("."); time.Sleep(40 * time.Millisecond) }`, "é€😀"},
		{"a rune that a display cuts", `os.Stdout.WriteString("\xe2\x82"); nb.Display(1); os.Stdout.WriteString("\xac");`, "\uFFFD\uFFFD\uFFFD"},
		{"Latin-1", `os.Stdout.Write([]byte("caf\xe9\n"));`, "caf\uFFFD\n"},
		{"surrogates and more", `os.Stdout.Write([]byte("\xed\xa0\x80\xc0\x80\xf5"));`, strings.Repeat("\uFFFD", 6)},
		{"all bytes", `var b []byte; for i := range 256 { b = append(b, byte(i)) }; os.Stdout.Write(b);`, func() string {
			var b strings.Builder
			for i := range 256 {
				b.WriteRune(map[bool]rune{true: rune(i), false: '\uFFFD'}[i < 0x80])
			}
			return b.String()
		}()},
		{"a line of 3 MB", `fmt.Println(strings.Repeat("€", 1_000_000))`, strings.Repeat("€", 1_000_000) + "\n"},
		{"nothing but line ends", `fmt.Print(strings.Repeat("\n", 100_000))`, strings.Repeat("\n", 100_000)},
		{"U+2028, HTML", `fmt.Print("\u2028</script><b>&amp;")`, "\u2028</script><b>&amp;"},
	} {
		text, reply, _ := cellText(k, test.code, 0)
		if text[0] != test.want || reply.Status != "ok" {
			t.Errorf("%s: %.100q of %d bytes, want %.100q of %d; %s", test.name, text[0], len(text[0]), test.want, len(test.want), reply.EValue)
		}
	}
}

// TestLateOutputIsOfTheCellThatRanLast: a goroutine's lines come with the
// request that ran last, and none is lost or in two cells.
func TestLateOutputIsOfTheCellThatRanLast(t *testing.T) {
	k := start(t)
	var all strings.Builder
	text, _, _ := cellText(k, "go func() { for i := range 50 { fmt.Println(i); time.Sleep(5 * time.Millisecond) } }()", 0)
	all.WriteString(text[0])
	for range 3 {
		text, _, _ := cellText(k, "time.Sleep(100 * time.Millisecond)", 0)
		all.WriteString(text[0])
	}
	for _, m := range k.Left() { // what came between cells
		var c struct{ Text string }
		json.Unmarshal(m.Content, &c)
		all.WriteString(c.Text)
	}
	for i := range 50 {
		if strings.Count("\n"+all.String(), fmt.Sprintf("\n%d\n", i)) != 1 {
			t.Errorf("line %d came not at all, or twice: %q", i, all.String())
		}
	}
}
