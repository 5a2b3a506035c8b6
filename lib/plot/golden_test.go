package plot

import (
	"bytes"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/*.png anew; look at them before committing")

// A picture equals its golden one if they have one size and at most one pixel
// in 10,000 differs by more than 48 of 255 in any channel: floating point may
// round the edge of a letter otherwise on another machine, and no more.
const (
	differsBy    = 48
	differsOneIn = 10_000
)

func TestPicturesAreTheGoldenOnes(t *testing.T) {
	for file, name := range map[string]string{
		"tokens.png":             "tokens of an answer",
		"tokens-awkward.png":     "awkward tokens by ratio",
		"tokens-none.png":        "no tokens",
		"candidates.png":         "candidates of an answer",
		"candidates-awkward.png": "a few awkward candidates",
		"candidates-none.png":    "no candidates",
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := figures(t)[name]
			if !ok {
				t.Fatal("no such figure")
			}
			path := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(path, f.png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%v; go test ./lib/plot -update writes it", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := samePicture(f.png, golden); err != nil {
				t.Error(err)
			}
		})
	}
}

func samePicture(a, b []byte) error {
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return err
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return err
	}
	if x.Bounds() != y.Bounds() {
		return errors.New("the size is " + x.Bounds().String() + ", want " + y.Bounds().String())
	}
	n := differing(x, y)
	if size := x.Bounds().Size(); n*differsOneIn > size.X*size.Y {
		return errors.New("too many pixels differ")
	}
	return nil
}

func differing(x, y image.Image) int {
	n := 0
	r := x.Bounds()
	for j := r.Min.Y; j < r.Max.Y; j++ {
		for i := r.Min.X; i < r.Max.X; i++ {
			a, b := color.RGBAModel.Convert(x.At(i, j)).(color.RGBA), color.RGBAModel.Convert(y.At(i, j)).(color.RGBA)
			if max(apart(a.R, b.R), apart(a.G, b.G), apart(a.B, b.B)) > differsBy {
				n++
			}
		}
	}
	return n
}

func apart(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }

func TestGoldenComparisonSeesAChangedNumber(t *testing.T) {
	rec := answer()
	rec.Steps[1].Candidates[1].Prob -= .02
	changed, err := Candidates(rec, 1, CandidatesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if samePicture(changed.png, figures(t)["candidates of an answer"].png) == nil {
		t.Error("a bar shorter by 2 % of the axis passes")
	}
	other := answer()
	other.Steps[3].LogProb = -3
	tokens, err := Tokens(other, TokensOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if samePicture(tokens.png, figures(t)["tokens of an answer"].png) == nil {
		t.Error("a token of another colour passes")
	}
}

// The picture keeps the colours of its areas when it is reduced to 256.
func TestPictureHasTheColoursOfTheBars(t *testing.T) {
	im, err := png.Decode(bytes.NewReader(figures(t)["candidates of an answer"].png))
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range barColours {
		x := 2 * (barsLeft + 4)
		y := int(2 * (barsTop + barCentre(0, j)*rowHeight))
		if got := color.NRGBAModel.Convert(im.At(x, y)); got != want {
			t.Errorf("bar %d is %v at (%d, %d), want %v", j, got, x, y, want)
		}
	}
}
