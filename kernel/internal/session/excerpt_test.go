package session

import (
	"strings"
	"testing"
)

func TestExcerptOfOddLines(t *testing.T) {
	long := strings.Repeat("a", 300) + "é!" + strings.Repeat("b", 300)
	for _, test := range []struct {
		name, source string
		col          int
		want         string
	}{
		{"wide letters take two columns", "日本 := x", 11, "   1 | 日本 := x\n     |         ^"},
		{"an emoji takes two", `"😀" + x`, 10, `   1 | "😀" + x` + "\n     |        ^"},
		{"a combining accent takes none", "e\u0301 + x", 7, "   1 | e\u0301 + x\n     |     ^"},
		{"a tab takes four", "\tif x\ty", 7, "   1 |     if x    y\n     |             ^"},
		{"a NUL is visible", "x\x00 y", 4, "   1 | x␀ y\n     |    ^"},
		{"an escape is visible", "x\x1b[31m y", 1, "   1 | x␛[31m y\n     | ^"},
		{"what cannot be seen is visible", "x\u200b := 1", 2, "   1 | x\uFFFD := 1\n     |  ^"},
		{"bytes that are no text", "x\xff\xfe + y", 7, "   1 | x\uFFFD\uFFFD + y\n     |       ^"},
		{"the middle of a long line", long, 303, "   1 | …" + strings.Repeat("a", 98) + "é!" + strings.Repeat("b", 139) + "…\n     | " + strings.Repeat(" ", 100) + "^"},
		{"the start of a long line", long, 1, "   1 | " + strings.Repeat("a", 240) + "…\n     | ^"},
		{"the end of a long line", long, 604, "   1 | …" + strings.Repeat("b", 100) + "\n     | " + strings.Repeat(" ", 101) + "^"},
	} {
		if got := plain(excerpt(test.source, 1, test.col)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}
