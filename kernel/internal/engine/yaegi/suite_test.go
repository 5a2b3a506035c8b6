package yaegi

import (
	_ "embed"
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine"
	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
	"github.com/branchbook/branchbook/kernel/internal/exports"
	"github.com/branchbook/branchbook/kernel/internal/symbols"
)

func newEngine() (engine.Engine, error) {
	return New(Options{Importer: exports.Importer(), Symbols: symbols.All()})
}

func TestSuite(t *testing.T) {
	enginetest.Run(t, newEngine, map[string]string{
		"exact/types have their names for fmt and reflect":                      "reflection sees shapes",
		"exact/types of generic functions are named after their type arguments": "generic local types",
		"exact/encoders see exported fields, tags and methods":                  "reflection sees shapes",
		"cells/values of a type that is declared again are of the earlier one":  "which cell a type is from is not kept",
		"failures/all goroutines of a cell are asleep":                          "nobody looks whether they are",
		"exact/sql.Null scans and tells its value":                              "it has no sql.Null",
		"exact/panics are values of the runtime's types":                        "some panics are the interpreter's",
	})
}

func TestConformance(t *testing.T) { enginetest.Conformance(t, newEngine) }

//go:embed testdata/remaining.txt
var remaining string

func TestRemaining(t *testing.T) { enginetest.Remaining(t, newEngine, remaining) }

func TestModules(t *testing.T) {
	enginetest.Modules(t, newEngine, map[string]string{"unsafe.go": "there is no package unsafe"})
}
