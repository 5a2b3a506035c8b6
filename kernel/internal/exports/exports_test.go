package exports

import "testing"

func TestEveryPackageDecodes(t *testing.T) {
	for path, name := range Names() {
		p, err := Importer().Import(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name() != name || !p.Complete() {
			t.Errorf("%s: name %q, complete %v; want %q, true", path, p.Name(), p.Complete(), name)
		}
	}
}
