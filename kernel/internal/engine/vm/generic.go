package vm

import (
	"crypto/hkdf"
	"crypto/pbkdf2"
	"hash"
	"hash/maphash"
	"reflect"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/branchbook/branchbook/kernel/internal/engine/vm/rtype"
)

// generic makes an instance of a generic function or method of the standard
// library which source could not say: of the function type t, with the type
// arguments args.
type generic func(t reflect.Type, args []reflect.Type) func([]reflect.Value) []reflect.Value

// generics are those functions and methods by their full names, without type
// parameters.
var generics = map[string]generic{
	"(*sync/atomic.Pointer).Load": func(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value { return pointer(t.Out(0), atomic.LoadPointer(word(a[0]))) }
	},
	"(*sync/atomic.Pointer).Store": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			atomic.StorePointer(word(a[0]), a[1].UnsafePointer())
			return nil
		}
	},
	"(*sync/atomic.Pointer).Swap": func(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return pointer(t.Out(0), atomic.SwapPointer(word(a[0]), a[1].UnsafePointer()))
		}
	},
	"(*sync/atomic.Pointer).CompareAndSwap": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return values(atomic.CompareAndSwapPointer(word(a[0]), a[1].UnsafePointer(), a[2].UnsafePointer()))
		}
	},
	"slices.Sort":           sortOrdered,
	"slices.SortFunc":       sortFunc(sort.Slice),
	"slices.SortStableFunc": sortFunc(sort.SliceStable),
	"unique.Make":           uniqueMake,
	"(unique.Handle).Value": uniqueValue,
	"weak.Make": func(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			w := weak.Make((*byte)(a[0].UnsafePointer()))
			return []reflect.Value{reflect.NewAt(t.Out(0), unsafe.Pointer(&w)).Elem()} // the same words for any type
		}
	},
	"(weak.Pointer).Value": func(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			p := reflect.New(a[0].Type())
			p.Elem().Set(a[0])
			return pointer(t.Out(0), unsafe.Pointer((*weak.Pointer[byte])(p.UnsafePointer()).Value()))
		}
	},
	"reflect.TypeFor": func(_ reflect.Type, args []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func([]reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.ValueOf(&args[0]).Elem()}
		}
	},
	"reflect.TypeAssert": func(t reflect.Type, args []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			v := a[0].Interface().(reflect.Value)
			r := reflect.New(args[0]).Elem()
			x := reflect.ValueOf(v.Interface())
			ok := x.IsValid() && (x.Type() == args[0] || args[0].Kind() == reflect.Interface && x.Type().Implements(args[0]))
			if ok {
				r.Set(x)
			}
			return []reflect.Value{r, reflect.ValueOf(ok)}
		}
	},
	"runtime.AddCleanup": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			cleanup := a[1]
			return values(runtime.AddCleanup((*byte)(a[0].UnsafePointer()), func(arg reflect.Value) { cleanup.Call([]reflect.Value{arg}) }, a[2]))
		}
	},
	"hash/maphash.Comparable": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return values(maphash.Comparable(a[0].Interface().(maphash.Seed), a[1].Interface()))
		}
	},
	"hash/maphash.WriteComparable": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			maphash.WriteComparable(a[0].Interface().(*maphash.Hash), a[1].Interface())
			return nil
		}
	},
	"crypto/hkdf.Extract": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return keyOr(hkdf.Extract(hashes(a[0]), a[1].Bytes(), a[2].Bytes()))
		}
	},
	"crypto/hkdf.Expand": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return keyOr(hkdf.Expand(hashes(a[0]), a[1].Bytes(), a[2].String(), int(a[3].Int())))
		}
	},
	"crypto/hkdf.Key": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return keyOr(hkdf.Key(hashes(a[0]), a[1].Bytes(), a[2].Bytes(), a[3].String(), int(a[4].Int())))
		}
	},
	"crypto/pbkdf2.Key": func(reflect.Type, []reflect.Type) func([]reflect.Value) []reflect.Value {
		return func(a []reflect.Value) []reflect.Value {
			return keyOr(pbkdf2.Key(hashes(a[0]), a[1].String(), a[2].Bytes(), int(a[3].Int()), int(a[4].Int())))
		}
	},
}

func values(x any) []reflect.Value { return []reflect.Value{reflect.ValueOf(x)} }

// word is the last field of an atomic.Pointer.
func word(v reflect.Value) *unsafe.Pointer {
	t := v.Type().Elem()
	return (*unsafe.Pointer)(unsafe.Add(v.UnsafePointer(), t.Field(t.NumField()-1).Offset))
}

// pointer is p as a value of a pointer type.
func pointer(t reflect.Type, p unsafe.Pointer) []reflect.Value {
	return []reflect.Value{reflect.NewAt(t, unsafe.Pointer(&p)).Elem()}
}

// made holds what unique.Make returned, by value.
var made sync.Map // any to unsafe.Pointer

func uniqueMake(t reflect.Type, args []reflect.Type) func([]reflect.Value) []reflect.Value {
	return func(a []reflect.Value) []reflect.Value {
		p := reflect.New(args[0])
		p.Elem().Set(a[0])
		// Values of an interface type are others than what they hold.
		key := struct {
			t reflect.Type
			x any
		}{args[0], a[0].Interface()}
		x, _ := made.LoadOrStore(key, p.UnsafePointer())
		h := x.(unsafe.Pointer)
		return []reflect.Value{reflect.NewAt(t.Out(0), unsafe.Pointer(&h)).Elem()}
	}
}

func uniqueValue(t reflect.Type, _ []reflect.Type) func([]reflect.Value) []reflect.Value {
	return func(a []reflect.Value) []reflect.Value {
		h := reflect.New(a[0].Type())
		h.Elem().Set(a[0])
		r := reflect.New(t.Out(0))
		rtype.Move(rtype.Of(t.Out(0)), r.UnsafePointer(), *(*unsafe.Pointer)(h.UnsafePointer()))
		return []reflect.Value{r.Elem()}
	}
}

// hashes is a function that makes hashes as one that says no more of them.
func hashes(f reflect.Value) func() hash.Hash {
	return func() hash.Hash { return f.Call(nil)[0].Interface().(hash.Hash) }
}

// keyOr are the results of a function that makes a key.
func keyOr(key []byte, err error) []reflect.Value {
	return []reflect.Value{reflect.ValueOf(key), reflect.ValueOf(&err).Elem()}
}
