package nb

import (
	"io"
	"strings"
	"testing"
)

func TestLinesAreReadWithoutANotebook(t *testing.T) {
	r := strings.NewReader("one\r\n\ntwo 𝐚\nlast")
	for _, want := range []string{"one", "", "two 𝐚", "last"} {
		if got, err := readLine(r); got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if got, err := readLine(r); got != "" || err != io.EOF {
		t.Errorf("%q, %v; want io.EOF", got, err)
	}
	if err := Feed("x"); err == nil {
		t.Error("there is no notebook to feed")
	}
}
