package yaegi

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

func TestDifferential(t *testing.T) { enginetest.Differential(t, newEngine, 0) }
