package stdlib

import "testing"

func TestEveryFileIsOfAPath(t *testing.T) {
	files, err := files.ReadDir(".")
	if err != nil || len(files) != len(Paths) {
		t.Errorf("%d files of %d packages: %v", len(files), len(Paths), err)
	}
	for _, p := range Paths {
		if Text(p) == nil {
			t.Errorf("no source of %s", p)
		}
	}
}
