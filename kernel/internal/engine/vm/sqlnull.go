package vm

import (
	"database/sql/driver"
	"reflect"
	_ "unsafe" // for linkname
)

// The methods of sql.Null.

func init() {
	generics["(*database/sql.Null).Scan"] = func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			n, src := a[0].Elem(), a[1].Interface()
			var err error
			if src == nil {
				n.SetZero()
			} else {
				n.FieldByName("Valid").SetBool(true)
				err = convertAssign(n.FieldByName("V").Addr().Interface(), src)
			}
			return []reflect.Value{reflect.ValueOf(&err).Elem()}
		}
	}
	generics["(database/sql.Null).Value"] = func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			v, err := nullValue(a[0])
			return []reflect.Value{reflect.ValueOf(&v).Elem(), reflect.ValueOf(&err).Elem()}
		}
	}
}

// convertAssign sets what dest points to, as Rows.Scan does.
//
//go:linkname convertAssign database/sql.convertAssign
func convertAssign(dest, src any) error

func nullValue(n reflect.Value) (driver.Value, error) {
	if !n.FieldByName("Valid").Bool() {
		return nil, nil
	}
	v := n.FieldByName("V").Interface()
	if of, ok := v.(driver.Valuer); ok {
		p := reflect.ValueOf(of)
		if p.Kind() == reflect.Pointer && p.IsNil() && p.Type().Elem().Implements(reflect.TypeFor[driver.Valuer]()) {
			return nil, nil // a method of values would dereference it
		}
		var err error
		if v, err = of.Value(); err != nil {
			return v, err
		}
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}
