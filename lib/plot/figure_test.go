package plot

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"compress/gzip"

	"github.com/branchbook/branchbook/lib/llm"
)

// Bounds on what a figure adds to a notebook, in bytes of its bundle as JSON.
// A chart is mostly its library, 322 kB; a generation costs 2.5 kB a token
// until tooltips and tables stop growing; 60 candidates cost what their
// tooltips do.
const (
	chartBytes  = 512 << 10
	tokensBytes = 96 << 10
	wideBytes   = 1200 << 10
	longBytes   = 8 << 20
)

func TestBundleHoldsTheFourFormsAndNoSVG(t *testing.T) {
	for name, f := range figures(t) {
		t.Run(name, func(t *testing.T) {
			b := f.MIMEBundle()
			keys := slices.Sorted(maps.Keys(b))
			if want := []string{MIMEType, "image/png", "text/html", "text/plain"}; !slices.Equal(keys, want) {
				t.Errorf("bundle has %q, want %q", keys, want)
			}
			picture, err := base64.StdEncoding.DecodeString(b["image/png"].(string))
			if err != nil {
				t.Fatalf("image/png is not base64: %v", err)
			}
			im, err := png.Decode(bytes.NewReader(picture))
			if err != nil {
				t.Fatalf("image/png: %v", err)
			}
			if size := im.Bounds().Size(); size.X != 2*f.width || size.Y != 2*f.height {
				t.Errorf("picture is %v, want %d×%d at two pixels each", size, f.width, f.height)
			}
			if !hasInk(im) {
				t.Error("the picture is blank")
			}
			text := b["text/plain"].(string)
			if strings.TrimSpace(text) == "" {
				t.Error("text/plain says nothing")
			}
			for _, r := range text {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("text/plain has the control character %q", r)
				}
			}
			message, err := json.Marshal(b)
			if err != nil {
				t.Fatalf("the bundle is no JSON: %v", err)
			}
			limit := tokensBytes
			switch {
			case strings.HasPrefix(name, "10,000 tokens"):
				limit = longBytes
			case strings.HasPrefix(name, "awkward"), strings.HasPrefix(name, "10,000 cand"):
				limit = wideBytes
			case f.option != nil:
				limit = chartBytes
			}
			if len(message) > limit {
				t.Errorf("the bundle has %d bytes, want at most %d", len(message), limit)
			}
		})
	}
}

// hasInk reports whether some pixel has the darkness of text.
func hasInk(im image.Image) bool {
	r := im.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if g := color.GrayModel.Convert(im.At(x, y)).(color.Gray); g.Y < 80 {
				return true
			}
		}
	}
	return false
}

func TestDataOfFigureSurvivesJSON(t *testing.T) {
	f, err := Tokens(awkwardRecord(), TokensOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(f.MIMEBundle()[MIMEType])
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Version int
		Kind    string
		Table   struct {
			Columns []string
			Rows    [][]any
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Version != 1 || d.Kind != "tokens" || len(d.Table.Rows) != len(awkward) {
		t.Fatalf("version %d, kind %q, %d rows", d.Version, d.Kind, len(d.Table.Rows))
	}
	lp := slices.Index(d.Table.Columns, "log_prob")
	for i, want := range []any{"NaN", "Infinity", "-Infinity", 0.0, -1.0, 1e-320, 1e308, .5} {
		if got := d.Table.Rows[i][lp]; got != want {
			t.Errorf("log_prob of step %d is %v, want %v", i, got, want)
		}
	}
}

func TestLongTableIsCutInBundleButNotInFile(t *testing.T) {
	f, err := Tokens(long(bundleRows+7), TokensOptions{})
	if err != nil {
		t.Fatal(err)
	}
	table := f.MIMEBundle()[MIMEType].(map[string]any)["table"].(map[string]any)
	if n := len(table["rows"].([]any)); n != bundleRows || table["omitted"] != 7 {
		t.Errorf("bundle has %d rows and omits %v, want %d and 7", n, table["omitted"], bundleRows)
	}
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+bundleRows+7 {
		t.Errorf("file has %d lines (%v), want %d", len(rows), err, 1+bundleRows+7)
	}
}

func TestSaveWritesEveryFormat(t *testing.T) {
	f, err := Candidates(answer(), 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for ext, check := range map[string]func([]byte) error{
		".PNG":  func(b []byte) error { _, err := png.Decode(bytes.NewReader(b)); return err },
		".json": func(b []byte) error { var v map[string]any; return json.Unmarshal(b, &v) },
		".csv":  func(b []byte) error { _, err := csv.NewReader(bytes.NewReader(b)).ReadAll(); return err },
		".svg":  wellFormed,
		".html": func(b []byte) error {
			if !bytes.HasPrefix(b, []byte("<!doctype html>")) {
				return errors.New("no doctype")
			}
			return nil
		},
		".txt": func(b []byte) error {
			if string(b) != f.String() {
				return errors.New("not the figure's text")
			}
			return nil
		},
	} {
		path := filepath.Join(dir, "figure"+ext)
		if err := f.Save(path); err != nil {
			t.Errorf("%s: %v", ext, err)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(data); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", ext, len(data), err)
		}
	}
}

func wellFormed(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	paths := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if paths == 0 {
				return errors.New("nothing is drawn")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "path":
				paths++
			case "text":
				return errors.New("text depends on the reader's fonts")
			}
		}
	}
}

func TestSaveSaysWhatIsWrong(t *testing.T) {
	f, err := Candidates(answer(), 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Save("figure.gif"); err == nil || err.Error() != `plot: save "figure.gif": extension ".gif" is none of .html .png .svg .json .csv .txt` {
		t.Errorf("unknown extension: %v", err)
	}
	if err := f.Save(filepath.Join(t.TempDir(), "absent", "f.png")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
	if err := (Figure{}).Save("f.png"); err == nil || err.Error() != `plot: save "f.png": the figure is empty` {
		t.Errorf("empty figure: %v", err)
	}
}

func TestZeroFigureSaysThatItIsEmpty(t *testing.T) {
	b := Figure{}.MIMEBundle()
	if len(b) != 1 || b["text/plain"] != "(an empty figure)" {
		t.Errorf("bundle is %v", b)
	}
}

func TestRequestsWithoutAnAnswerAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err  func() error
		want string
	}{
		"step after the last": {
			func() error { _, err := Candidates(answer(), 14, CandidatesOptions{}); return err },
			"plot: draw candidates of step 14: record has steps 0 to 13",
		},
		"step before the first": {
			func() error { _, err := Candidates(answer(), -1, CandidatesOptions{}); return err },
			"plot: draw candidates of step -1: record has steps 0 to 13",
		},
		"empty record": {
			func() error { _, err := Candidates(llm.Record{}, 0, CandidatesOptions{}); return err },
			"plot: draw candidates of step 0: record has no steps",
		},
		"unknown colour": {
			func() error { _, err := Tokens(answer(), TokensOptions{Color: "red"}); return err },
			`plot: draw tokens: unknown colour "red": want "surprisal", "probability", "entropy" or "ratio"`,
		},
		"negative full colour": {
			func() error { _, err := Tokens(answer(), TokensOptions{Full: -1}); return err },
			"plot: draw tokens: full colour at -1: want a positive number of nats",
		},
	} {
		if err := c.err(); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestEmbeddedLibraryIsTheOneReleased(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(echartsGzip))
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, z); err != nil {
		t.Fatal(err)
	}
	// dist/echarts.common.min.js of the npm package echarts 6.1.0.
	const want = "61f13280aba3161f77fc801bf5f9c786f55f10432153a0683fc5cc0700b013d5"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("sha256 is %s, want %s", got, want)
	}
}
