package vm

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

func TestSuite(t *testing.T) { enginetest.Run(t, newEngine, map[string]string{}) }

func TestConformance(t *testing.T) { enginetest.Conformance(t, newEngine) }

func TestModules(t *testing.T) {
	enginetest.Modules(t, newEngine, map[string]string{"unsafe refused.txt": "package unsafe runs"})
}

//go:embed testdata/remaining.txt
var remaining string

func TestRemaining(t *testing.T) { enginetest.Remaining(t, newEngine, remaining) }

//go:embed testdata/examples.txt
var examples string

func TestExamples(t *testing.T) { enginetest.Examples(t, newEngine, examples) }

//go:embed testdata/packages.txt
var packages string

func TestPackages(t *testing.T) { enginetest.PackageTests(t, newEngine, packages) }
