package notebook

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// What Jupyter's own writer wrote comes back byte for byte.
func TestDecodeEncodeIsIdentity(t *testing.T) {
	for _, name := range []string{"all.ipynb", "old.ipynb"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			nb, err := Decode(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nb.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n"); !reflect.DeepEqual(g, w) {
				for i := range min(len(g), len(w)) {
					if g[i] != w[i] {
						t.Fatalf("line %d:\n%s\nwant\n%s", i+1, g[i], w[i])
					}
				}
				t.Fatalf("%d lines, want %d", len(g), len(w))
			}
		})
	}
}

func TestDecode(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "all.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	nb, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := nb.Language(); got != "go" {
		t.Errorf("language %q, want go", got)
	}
	c := nb.Cells[1]
	if c.Kind != Code || c.ID != "cell-1" || c.ExecutionCount != 3 || len(c.Outputs) != 5 {
		t.Fatalf("cell 1 is %+v", c)
	}
	if want := "x := 1\nfmt.Println(x)\n\"<&> é 日本 \\t\""; c.Source != want {
		t.Errorf("source %q, want %q", c.Source, want)
	}
	if got, want := c.Outputs[0].Text, "one\ntwo\nno newline"; got != want {
		t.Errorf("stream %q, want %q", got, want)
	}
	if got, want := c.Outputs[2].Data["text/html"], "<b>a</b>\n<i>b</i>"; got != want {
		t.Errorf("html %q, want %q", got, want)
	}
	// A list under a JSON type is a list, not lines.
	if got, want := c.Outputs[2].Data["application/vnd.own.v1+json"], []any{"x\n", "y"}; !reflect.DeepEqual(got, want) {
		t.Errorf("json %#v, want %#v", got, want)
	}
	if got, want := c.Outputs[4].Traceback, []string{"line 1", "line 2\nline 3"}; !reflect.DeepEqual(got, want) {
		t.Errorf("traceback %q, want %q", got, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	cell := func(s string) string { return `{"nbformat":4,"nbformat_minor":5,"cells":[` + s + `]}` }
	for _, test := range []struct{ name, in, want string }{
		{"nothing", ``, "not a notebook"},
		{"no JSON", `package main`, "not a notebook"},
		{"cut short", `{"nbformat":4,"cells":[`, "not a notebook"},
		{"other JSON", `{"a":1}`, "no nbformat field"},
		{"two notebooks", `{"nbformat":4} {}`, "more follows"},
		{"an old format", `{"nbformat":3,"worksheets":[]}`, "format 3, want 4"},
		{"a cell without kind", cell(`{}`), `cell 1: cell_type is ""`},
		{"a source of numbers", cell(`{"cell_type":"code","source":[1]}`), "cell 1: source: neither"},
		{"metadata that is no object", cell(`{"cell_type":"markdown","metadata":[]}`), "metadata is no object"},
		{"outputs that are no list", cell(`{"cell_type":"code","outputs":{}}`), "outputs is no list"},
		{"an output that is no object", cell(`{"cell_type":"code","outputs":[1]}`), "output 1 is no object"},
		{"an output of no known kind", cell(`{"cell_type":"code","outputs":[{"output_type":"x"}]}`), `output_type is "x"`},
		{"a count that is a fraction", cell(`{"cell_type":"code","execution_count":1.5}`), "execution_count is no whole number"},
		{"a count that is text", cell(`{"cell_type":"code","execution_count":"1"}`), "execution_count is no whole number"},
		{"data that is a number", cell(`{"cell_type":"code","outputs":[{"output_type":"display_data","data":{"text/plain":1}}]}`), "data of text/plain"},
		{"a traceback of numbers", cell(`{"cell_type":"code","outputs":[{"output_type":"error","traceback":[1]}]}`), "traceback: neither"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if nb, err := Decode([]byte(test.in)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Decode(%s) = %v, %v; want an error with %q", test.in, nb, err, test.want)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	object := func(kv ...any) map[string]any { return map[string]any{kv[0].(string): kv[1]} }
	for _, test := range []struct {
		name     string
		metadata map[string]any
		want     string
	}{
		{"a notebook that ran", object("language_info", object("name", "python")), "python"},
		{"a notebook that never ran", object("kernelspec", object("language", "go")), "go"},
		{"a kernel without language", object("kernelspec", object("name", "branchbook")), ""},
		{"no metadata", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := (&Notebook{Metadata: test.metadata}).Language(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// FuzzDecode: whatever is read is written in a form that reads as the same.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"all.ipynb", "old.ipynb"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Decode(data)
		if err != nil {
			return
		}
		once, err := nb.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("%v\nin what Encode wrote:\n%s", err, once)
		}
		twice, err := again.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if string(once) != string(twice) {
			t.Errorf("written once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}
