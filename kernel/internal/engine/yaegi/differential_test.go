package yaegi

import (
	"testing"

	"github.com/branchbook/branchbook/kernel/internal/engine/enginetest"
)

// Of 25 programs of each kind of statement that is left out these print
// something else: methods of embedded interfaces and pointers 12, errors.Is by a
// method and names of fields in json and templates 14, conversions between struct
// types and from any 11, recover in a helper and panic(nil) 11, loops over
// functions that go on too long 8, texts of run-time panics 9, %v of what has
// methods inside 6, maps with keys of kinds of interfaces 7, sync.Map and contexts'
// values 6, shifts by negative counts 5, values of types declared again 4,
// append(s[:1], x, s[1]) 4, texts of slice bounds 2, a type named int 1; of generic
// aliases and of s[:-1] some.
func TestDifferential(t *testing.T) { enginetest.Differential(t, newEngine, enginetest.Exact) }
