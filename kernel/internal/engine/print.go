package engine

import "reflect"

// Print is the builtin print of cells' values: like Go's it writes to file
// descriptor 2. It waits a moment until what was printed before has left file
// descriptor 1, so that lines keep their order where the two are pipes with
// one reader.
func Print(args ...any) { write("", "", args) }

// Println is the builtin println, see Print.
func Println(args ...any) { write(" ", "\n", args) }

func write(sep, end string, args []any) {
	drain(1)
	for i, x := range args {
		if i > 0 {
			print(sep)
		}
		write1(x)
	}
	print(end)
}

func write1(x any) {
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Bool:
		print(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		print(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		print(v.Uint())
	case reflect.Float32:
		print(float32(v.Float()))
	case reflect.Float64:
		print(v.Float())
	case reflect.Complex64:
		print(complex64(v.Complex()))
	case reflect.Complex128:
		print(v.Complex())
	case reflect.String:
		print(v.String())
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		print(v.UnsafePointer())
	case reflect.Invalid:
		print("nil")
	default:
		print(x)
	}
}
