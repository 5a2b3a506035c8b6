package symbols

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/symbols/extract"
)

// The tables of our own libraries go stale with every change of their API:
// go generate ./kernel/internal/symbols mends that. The other tables change
// only with a dependency or with Go; some stand for them here.
func TestTablesAreFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("BRANCHBOOK_REQUIRE") == "1" {
			t.Fatal("no go command")
		}
		t.Skip("no go command to read the packages with")
	}
	for dest, dir := range map[string]string{"symbols": ".", "lab": "lab"} {
		files, skipped, err := extract.Files(dest, func(path string) bool {
			return strings.HasPrefix(path, "github.com/branchbook/") ||
				slices.Contains([]string{"strings", "net/http", "gonum.org/v1/gonum/optimize", "gonum.org/v1/plot/plotutil"}, path)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range skipped {
			t.Error("no table for", s)
		}
		for name, want := range files {
			if name == "tables.go" && dest == "symbols" {
				continue // lists all packages
			}
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s of package %s is stale (%v): run go generate ./kernel/internal/symbols", name, dest, err)
			}
		}
	}
}

func TestValuesOfTables(t *testing.T) {
	strs := All().Table("strings")
	if got := strs["ToUpper"].Call([]reflect.Value{reflect.ValueOf("go")})[0].String(); got != "GO" {
		t.Errorf("strings.ToUpper: got %q", got)
	}
	if v := All().Table("os")["Args"]; !v.CanSet() {
		t.Error("os.Args is a variable but cannot be set")
	}
	if v := All().Table("io")["_Reader"]; v.Type().Elem().Field(1).Name != "WRead" {
		t.Errorf("wrapper of io.Reader: got %v", v.Type())
	}
	if v, ok := All().Table("slices")["Sort"]; ok {
		t.Errorf("slices.Sort is generic but has the value %v", v)
	}
	if All().Table("no/such/package") != nil {
		t.Error("a table of a package that does not exist")
	}
}

func TestEveryTableCanBeMade(t *testing.T) {
	all := All()
	paths := all.Paths()
	if len(paths) < 150 {
		t.Errorf("only %d tables", len(paths))
	}
	for _, p := range paths {
		for name, v := range all.Table(p) {
			if !v.IsValid() {
				t.Errorf("%s.%s has no value", p, name)
			}
		}
	}
}
