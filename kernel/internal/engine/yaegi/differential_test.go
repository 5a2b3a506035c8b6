package yaegi

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// The package comment tells of what is left out.
func TestDifferential(t *testing.T) {
	enginetest.Differential(t, newEngine, enginetest.NamedIdentity|enginetest.TypedNil|enginetest.TypeNames)
}
