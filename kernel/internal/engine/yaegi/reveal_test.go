package yaegi

import (
	"context"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// Values inside a shown value say what they are and have their methods.
func TestReveal(t *testing.T) {
	nb := enginetest.Open(t, newEngine)
	_, out, err := nb.Run(context.Background(), `type box struct{ n int }
func (b *box) MIMEBundle() map[string]any { return map[string]any{"n": b.n} }
type cel float64
func (c cel) String() string { return fmt.Sprint(float64(c), "C") }
type E[T any] struct{ v T }
func (e E[T]) Error() string { return fmt.Sprint("E", e.v) }
xs := []any{&box{1}, box{2}, cel(3), E[int]{4}, 5, nil}
xs`)
	if err != nil || len(out.Values) != 1 || out.Values[0].Reveal == nil {
		t.Fatal(err, out)
	}
	xs := out.Values[0].Any.([]any)
	for i, want := range []struct{ typ, bundle, text, err string }{
		{typ: "*box", bundle: "1"},
		{typ: "box"},
		{typ: "cel", text: "3C"},
		{typ: "E", err: "E4"},
		{},
		{},
	} {
		v, ok := out.Values[0].Reveal(xs[i])
		if ok != (want.typ != "") && v.Type != "" || v.Type != want.typ {
			t.Errorf("%v: %q %v, want type %q", xs[i], v.Type, ok, want.typ)
		}
		for name, f := range map[string]struct {
			f    func() string
			want string
		}{"String": {v.String, want.text}, "Error": {v.Error, want.err}} {
			if got := ""; f.f != nil {
				if got = f.f(); got != f.want {
					t.Errorf("%v.%s() is %q, want %q", xs[i], name, got, f.want)
				}
			} else if f.want != "" {
				t.Errorf("%v has no %s", xs[i], name)
			}
		}
		if (v.MIMEBundle != nil) != (want.bundle != "") {
			t.Errorf("%v: MIMEBundle is there: %v", xs[i], v.MIMEBundle != nil)
		} else if v.MIMEBundle != nil && v.MIMEBundle()["n"] != 1 {
			t.Errorf("%v.MIMEBundle() is %v", xs[i], v.MIMEBundle())
		}
	}
}
