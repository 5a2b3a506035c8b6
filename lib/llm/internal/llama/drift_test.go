//go:build cgo && !llama_system

package llama

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decl.h restates a part of llama.cpp's headers. The tests compile it against
// the real ones, whose module is in the build already, so its version is the
// one that is linked.

// headers are the flags to find the real headers.
func headers(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		skip(t, "no gcc to compile the headers with")
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ollama/ollama").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		skip(t, fmt.Sprintf("the module of llama.cpp is not to be found: %v", err))
	}
	return []string{"-I" + filepath.Join(dir, "llama/llama.cpp/include"), "-I" + filepath.Join(dir, "ml/backend/ggml/ggml/include")}
}

func skip(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

const realHeaders = "#include <llama.h>\n#include <ggml-backend.h>\n#include <ggml-cpu.h>\n"

// compile returns what gcc says of a C source beside a copy of decl.h.
func compile(t *testing.T, flags []string, decl, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"decl.h": decl, "drift.c": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"-std=gnu11", "-fsyntax-only", "-Wno-deprecated-declarations", "-I" + dir}, flags...)
	out, err := exec.Command("gcc", append(args, filepath.Join(dir, "drift.c"))...).CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// signatures declares every function twice: gcc refuses a second declaration
// of another type.
const signatures = realHeaders + "#define DECL_NO_TYPES\n#include \"decl.h\"\n"

var (
	structs = regexp.MustCompile(`(?s)struct (\w+) \{\n(.*?)\n\}`)
	field   = regexp.MustCompile(`(\w+)(?:\[\d+\])?;`)
	enums   = regexp.MustCompile(`\b((?:LLAMA|GGML)_[A-Z0-9_]+) = (-?\d+)`)
)

// layouts includes decl.h's types under other names beside the real ones, and
// asserts for each struct its size, and for each field its place and size,
// and for each constant its value.
func layouts(decl string) (source string, fields, constants int) {
	var b strings.Builder
	b.WriteString(realHeaders)
	var asserts strings.Builder
	renamed := make(map[string]bool)
	rename := func(name string) {
		if !renamed[name] {
			renamed[name] = true
			fmt.Fprintf(&b, "#define %s ours_%s\n", name, name)
		}
	}
	for _, m := range enums.FindAllStringSubmatch(decl, -1) {
		// Renamed, our constants do not collide with the real ones.
		fmt.Fprintf(&asserts, "_Static_assert(%s == (%s), \"value of %s\");\n", m[1], m[2], m[1])
		constants++
	}
	fmt.Fprint(&b, asserts.String())
	asserts.Reset()
	for _, m := range regexp.MustCompile(`(?m)^(?:typedef )?(?:struct|enum) (\w+)`).FindAllStringSubmatch(decl, -1) {
		rename(m[1])
	}
	for _, m := range regexp.MustCompile(`typedef .*?(\w+);|typedef .*?\(\*(\w+)\)|\b((?:LLAMA|GGML)_[A-Z0-9_]+) =`).FindAllStringSubmatch(decl, -1) {
		for _, name := range m[1:] {
			if name != "" {
				rename(name)
			}
		}
	}
	b.WriteString("#define DECL_NO_FUNCTIONS\n#include \"decl.h\"\n")
	for name := range renamed {
		fmt.Fprintf(&b, "#undef %s\n", name)
	}
	for _, s := range structs.FindAllStringSubmatch(decl, -1) {
		fmt.Fprintf(&b, "_Static_assert(sizeof(struct ours_%s) == sizeof(struct %s), \"size of %s\");\n", s[1], s[1], s[1])
		for _, line := range strings.Split(s[2], "\n") {
			f := field.FindStringSubmatch(line)
			if f == nil {
				continue
			}
			fields++
			fmt.Fprintf(&b, "_Static_assert(__builtin_offsetof(struct ours_%[1]s, %[2]s) == __builtin_offsetof(struct %[1]s, %[2]s), \"place of %[1]s.%[2]s\");\n", s[1], f[1])
			fmt.Fprintf(&b, "_Static_assert(sizeof(((struct ours_%[1]s *)0)->%[2]s) == sizeof(((struct %[1]s *)0)->%[2]s), \"size of %[1]s.%[2]s\");\n", s[1], f[1])
		}
	}
	return b.String(), fields, constants
}

func TestDeclarationsMatchTheHeaders(t *testing.T) {
	flags := headers(t)
	raw, err := os.ReadFile("decl.h")
	if err != nil {
		t.Fatal(err)
	}
	decl := string(raw)
	if out := compile(t, flags, decl, signatures); out != "" {
		t.Errorf("signatures differ:\n%s", out)
	}
	source, fields, constants := layouts(decl)
	if out := compile(t, flags, decl, source); out != "" {
		t.Errorf("layouts differ:\n%s", out)
	}
	// As many as decl.h has, counted another way: what is compared is all.
	if want := strings.Count(between(decl, "typedef struct llama_batch {", "#endif // DECL_NO_TYPES"), ";\n\t") + 5; fields != want {
		t.Errorf("%d fields are compared, decl.h has %d", fields, want)
	}
	if want := strings.Count(decl, " = "); constants != want {
		t.Errorf("%d constants are compared, decl.h has %d", constants, want)
	}
}

// Each planted fault is one that a new version of llama.cpp could bring.
func TestPlantedFaultsAreFound(t *testing.T) {
	flags := headers(t)
	raw, err := os.ReadFile("decl.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"fields in another order", "\tuint32_t n_batch;\n\tuint32_t n_ubatch;\n", "\tuint32_t n_ubatch;\n\tuint32_t n_batch;\n", "place of llama_context_params.n_batch"},
		{"a field is gone", "\tbool no_perf;\n", "", "place of llama_context_params.op_offload"},
		{"a last field is gone", "\tint8_t *logits;\n", "", "size of llama_batch"},
		{"a field of another size", "\tfloat defrag_thold;\n", "\tdouble defrag_thold;\n", "size of llama_context_params.defrag_thold"},
		{"another argument", "bool llama_memory_seq_rm(llama_memory_t, llama_seq_id, llama_pos, llama_pos)", "bool llama_memory_seq_rm(llama_memory_t, llama_seq_id, llama_pos)", "llama_memory_seq_rm"},
		{"another result", "float *llama_get_logits_ith", "double *llama_get_logits_ith", "llama_get_logits_ith"},
		{"another value", "LLAMA_FLASH_ATTN_TYPE_ENABLED = 1", "LLAMA_FLASH_ATTN_TYPE_ENABLED = 2", "value of LLAMA_FLASH_ATTN_TYPE_ENABLED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			decl := strings.Replace(string(raw), c.old, c.new, 1)
			if decl == string(raw) {
				t.Fatalf("decl.h has no %q to spoil", c.old)
			}
			source, _, _ := layouts(decl)
			said := compile(t, flags, decl, signatures) + compile(t, flags, decl, source)
			if !strings.Contains(said, c.says) {
				t.Errorf("gcc does not say %q:\n%s", c.says, said)
			}
		})
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}
