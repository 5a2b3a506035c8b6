package yaegi

import (
	"go/constant"
	"math"
	"reflect"
	"testing"
)

func TestConstantsInTables(t *testing.T) {
	for name, c := range map[string]struct {
		into any
		from constant.Value
		want any
	}{
		"the smallest int8":           {new(int8), constant.MakeInt64(-128), int8(-128)},
		"the largest uint64":          {new(uint64), constant.MakeUint64(math.MaxUint64), uint64(math.MaxUint64)},
		"a rune":                      {new(int32), constant.MakeInt64('é'), 'é'},
		"an integral float as an int": {new(int), constant.MakeFloat64(3), 3},
		"a float32, rounded once":     {new(float32), constant.MakeFromLiteral("1.000000178813934326171875000000000000001", 6, 0), float32(1.00000023841857910)},
		"a float64":                   {new(float64), constant.MakeFloat64(0.1), 0.1},
		"a string of odd bytes":       {new(string), constant.MakeString("\xff"), "\xff"},
		"a bool":                      {new(bool), constant.MakeBool(true), true},
	} {
		v := reflect.ValueOf(c.into).Elem()
		setConstant(v, c.from)
		if got := v.Interface(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A slice is a new one each time that its literal is evaluated.
func TestTablesAreCopied(t *testing.T) {
	b := &library{tables: map[string]reflect.Value{"k": reflect.ValueOf([]byte{1, 2})}}
	b.madeTable("k").([]byte)[0] = 9
	if got := b.madeTable("k").([]byte); got[0] != 1 {
		t.Errorf("a table was changed: %v", got)
	}
}
