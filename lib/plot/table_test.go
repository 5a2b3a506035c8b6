package plot

import (
	"bytes"
	"math"
	"testing"
)

func TestNumbersForReading(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.5: "0.500", 0.0471: "0.0471", 0.09996: "0.100", 0.99996: "1.00", 1: "1.00", 12.345: "12.35", 123.4: "123",
		0.00012: "1.2e-04", 1e-320: "1.0e-320", 1e308: "1.0e+308", -0.5: "−0.500", math.Inf(1): "+∞", math.Inf(-1): "−∞", 123456: "123456",
	} {
		if got := number(x); got != want {
			t.Errorf("%v is written %q, want %q", x, got, want)
		}
	}
	if got := number(math.NaN()); got != "NaN" {
		t.Errorf("NaN is written %q", got)
	}
}

func TestCSVKeepsEveryDigitAndCharacter(t *testing.T) {
	tb := table{columns: []string{"piece", "x"}, rows: [][]any{{`"a,\"b\""`, 0.1}, {"line\nfeed", math.Inf(-1)}, {"", 7}}}
	var b bytes.Buffer
	if err := tb.writeCSV(&b); err != nil {
		t.Fatal(err)
	}
	want := "piece,x\n" + `"""a,\""b\"""""` + ",0.1\n\"line\nfeed\",-Inf\n,7\n"
	if got := b.String(); got != want {
		t.Errorf("table is %q, want %q", got, want)
	}
}
