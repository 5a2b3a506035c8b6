package rtype

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"testing"
	"unsafe"
)

// compiled is the type that declare makes again.
type compiled struct{ A, b int }

func (c compiled) String() string { return fmt.Sprint("T", c.A) }
func (c *compiled) Error() string { return fmt.Sprint("E", c.A) }

// declare makes a type like compiled, of package path example/main.
func declare(t *testing.T) reflect.Type {
	t.Helper()
	d := Declare("T", "example/main", reflect.TypeFor[struct{ A, b int }](), 1, 2)
	str := reflect.ValueOf(func(p unsafe.Pointer) string { return (*compiled)(p).String() })
	word := reflect.ValueOf(func(p unsafe.Pointer) string { return (*compiled)(p).Error() })
	value := reflect.MakeFunc(reflect.FuncOf([]reflect.Type{d.Type()}, []reflect.Type{reflect.TypeFor[string]()}, false), func(a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(fmt.Sprint("T", a[0].Field(0)))}
	})
	sig := reflect.TypeFor[func() string]()
	stringer := Method{Name: "String", Exported: true, Type: sig, Word: str, Value: value}
	err := d.Complete(
		Struct([]Field{{Name: "A", Type: reflect.TypeFor[int]()}, {Name: "b", PkgPath: "example/main", Type: reflect.TypeFor[int]()}}),
		[]Method{stringer},
		[]Method{{Name: "Error", Exported: true, Type: sig, Word: word}, stringer},
	)
	if err != nil {
		t.Fatal(err)
	}
	return d.Type()
}

func TestDeclaredTypeIsWhatCompiledCodeExpects(t *testing.T) {
	typ := declare(t)
	v := reflect.New(typ).Elem()
	v.Field(0).SetInt(5)
	x, p := v.Interface(), v.Addr().Interface()
	if reflect.PointerTo(typ) != reflect.TypeOf(p) || reflect.TypeOf(p).Elem() != typ {
		t.Error("the pointer type is not the type's")
	}
	like, likeP := compiled{A: 5}, &compiled{A: 5}
	for _, f := range []string{"%v", "%+v", "%d", "%s", "%#v", "%T"} {
		got, want := fmt.Sprintf(f, x), strings.ReplaceAll(fmt.Sprintf(f, like), "rtype.compiled", "main.T")
		if got != want {
			t.Errorf("%s of a value: got %q, want %q", f, got, want)
		}
		if f == "%#v" {
			continue
		}
		got, want = fmt.Sprintf(f, p), strings.ReplaceAll(fmt.Sprintf(f, likeP), "rtype.compiled", "main.T")
		if got != want {
			t.Errorf("%s of a pointer: got %q, want %q", f, got, want)
		}
	}
	if b, err := json.Marshal(x); err != nil || string(b) != `{"A":5}` {
		t.Errorf("json: %s, %v", b, err)
	}
	if typ.Name() != "T" || typ.PkgPath() != "example/main" || typ.NumMethod() != 1 || typ.Method(0).Name != "String" {
		t.Errorf("reflect sees %s of %s with %d methods", typ.Name(), typ.PkgPath(), typ.NumMethod())
	}
	if s := typ.Method(0).Func.Call([]reflect.Value{v})[0].String(); s != "T5" {
		t.Errorf("the method as a function returns %q", s)
	}
	wrapped := fmt.Errorf("wrapped: %w", p.(error))
	target := reflect.New(reflect.PointerTo(typ))
	if !errors.Is(wrapped, p.(error)) || !errors.As(wrapped, target.Interface()) || target.Elem().Pointer() != v.Addr().Pointer() {
		t.Error("errors.Is or errors.As does not find it")
	}
	m := reflect.MakeMap(reflect.MapOf(typ, reflect.TypeFor[int]()))
	m.SetMapIndex(v, reflect.ValueOf(3))
	if got := m.MapIndex(v).Int(); got != 3 {
		t.Errorf("as a key of a map it finds %d", got)
	}
	if other := reflect.Zero(declare(t)).Interface(); reflect.Zero(typ).Interface() == other {
		t.Error("values of two types with one name are equal")
	}
}

func TestDeclaredTypeImplementsInterfaces(t *testing.T) {
	typ := declare(t)
	sig := reflect.TypeFor[func() string]()
	both := Interface("", []Method{{Name: "Error", Exported: true, Type: sig}, {Name: "String", Exported: true, Type: sig}})
	if s := both.String(); s != "interface { Error() string; String() string }" {
		t.Error(s)
	}
	if typ.Implements(both) || !reflect.PointerTo(typ).Implements(both) {
		t.Error("reflect disagrees about who implements an interface")
	}
	v := reflect.New(both).Elem()
	v.Set(reflect.New(typ))
	if s := v.MethodByName("Error").Call(nil)[0].String(); s != "E0" {
		t.Errorf("a call through an interface that was made returns %q", s)
	}
}

// A method is called by compiled code through the method table, whatever its
// parameters: they stay in their registers.
func TestMethodsTakeArgumentsAndResults(t *testing.T) {
	d := Declare("L", "main", reflect.TypeFor[[]float64](), 3, 3)
	list := func(p unsafe.Pointer) []float64 { return *(*[]float64)(p) }
	ms := []Method{
		{Name: "Len", Exported: true, Type: reflect.TypeFor[func() int](), Word: reflect.ValueOf(func(p unsafe.Pointer) int { return len(list(p)) })},
		{Name: "Less", Exported: true, Type: reflect.TypeFor[func(i, j int) bool](), Word: reflect.ValueOf(func(p unsafe.Pointer, i, j int) bool { return list(p)[i] < list(p)[j] })},
		{Name: "Swap", Exported: true, Type: reflect.TypeFor[func(i, j int)](), Word: reflect.ValueOf(func(p unsafe.Pointer, i, j int) { l := list(p); l[i], l[j] = l[j], l[i] })},
	}
	if err := d.Complete(reflect.TypeFor[[]float64](), ms, ms); err != nil {
		t.Fatal(err)
	}
	xs := []float64{3, 1, 2}
	sort.Sort(reflect.ValueOf(xs).Convert(d.Type()).Interface().(sort.Interface))
	if fmt.Sprint(xs) != "[1 2 3]" {
		t.Error(xs)
	}
}

func TestBlankFieldsDoNotCount(t *testing.T) {
	typ := Struct([]Field{{Name: "_", PkgPath: "main", Type: reflect.TypeFor[int]()}, {Name: "X", Type: reflect.TypeFor[int]()}, {Name: "_", PkgPath: "main", Type: reflect.TypeFor[int]()}})
	a, b := reflect.New(typ), reflect.New(typ)
	*(*int)(a.UnsafePointer()) = 1
	if a.Elem().Interface() != b.Elem().Interface() {
		t.Error("structs that differ in a blank field are not equal")
	}
	b.Elem().Field(1).SetInt(2)
	if a.Elem().Interface() == b.Elem().Interface() {
		t.Error("different structs are equal")
	}
}

// What only frames point to stays alive, what nothing points to goes.
func TestMemoryIsSeenByTheGarbageCollector(t *testing.T) {
	var m Memory
	n, s := m.Add(reflect.TypeFor[uintptr]()), m.Add(reflect.TypeFor[struct {
		x int
		p *[1000]int
	}]())
	typ := m.Type()
	p := New(typ)
	freed := make(chan string, 2)
	track := func(name string) *[1000]int {
		x := new([1000]int)
		runtime.AddCleanup(x, func(name string) { freed <- name }, name)
		return x
	}
	*(**[1000]int)(unsafe.Add(p, s+8)) = track("held")
	*(*uintptr)(unsafe.Add(p, n)) = uintptr(unsafe.Pointer(track("number")))
	for range 5 {
		runtime.GC()
	}
	if got := <-freed; got != "number" {
		t.Errorf("%s was freed", got)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(typ)
}

// The structures say of compiled types what reflect says.
func TestStructuresAreTheRuntimes(t *testing.T) {
	for _, x := range []any{0, "", 1.5, compiled{}, &compiled{}, []int{}, map[string]compiled{}, make(chan int), func(int) string { return "" }, [3]int{}} {
		r := reflect.TypeOf(x)
		rt := Of(r)
		if rt.Reflect() != r || rt.Size != r.Size() || int(rt.align) != r.Align() || reflect.Kind(rt.kind) != r.Kind() || (rt.Equal != nil) != r.Comparable() {
			t.Errorf("%s: size %d, align %d, kind %d", r, rt.Size, rt.align, rt.kind)
		}
		switch r.Kind() {
		case reflect.Pointer, reflect.Slice:
			if (*elemType)(unsafe.Pointer(rt)).elem.Reflect() != r.Elem() {
				t.Errorf("%s: another element", r)
			}
		case reflect.Array:
			if a := (*arrayType)(unsafe.Pointer(rt)); a.elem.Reflect() != r.Elem() || int(a.len) != r.Len() {
				t.Errorf("%s: another array", r)
			}
		case reflect.Map:
			if m := (*mapType)(unsafe.Pointer(rt)); m.key.Reflect() != r.Key() || m.elem.Reflect() != r.Elem() {
				t.Errorf("%s: another map", r)
			}
		case reflect.Chan:
			if c := (*chanType)(unsafe.Pointer(rt)); c.elem.Reflect() != r.Elem() || c.dir != int(r.ChanDir()) {
				t.Errorf("%s: another channel", r)
			}
		case reflect.Func:
			if f := (*funcType)(unsafe.Pointer(rt)); f.params()[0].Reflect() != r.In(0) || f.params()[1].Reflect() != r.Out(0) {
				t.Errorf("%s: other parameters", r)
			}
		case reflect.Struct:
			s := (*structType)(unsafe.Pointer(rt))
			for i, f := range s.fields {
				if f.typ.Reflect() != r.Field(i).Type || f.offset != r.Field(i).Offset {
					t.Errorf("%s: another field %d", r, i)
				}
			}
			u := (*struct {
				structType
				uncommon
			})(unsafe.Pointer(rt))
			if int(u.exported) != r.NumMethod() {
				t.Errorf("%s: %d methods", r, u.exported)
			}
		}
	}
}

// There are pieces of code for any number of methods.
func TestManyMethods(t *testing.T) {
	sig := reflect.TypeFor[func(a, b int, s string, f float64) (string, float64)]()
	for i := range stubCount/2 + pageStubs {
		d := Declare("M", "main", reflect.TypeFor[int](), 1, 1)
		m := []Method{{Name: "F", Exported: true, Type: sig, Word: reflect.ValueOf(func(p unsafe.Pointer, a, b int, s string, f float64) (string, float64) {
			return fmt.Sprint(i, *(*int)(p), a, b, s, f), f * 2
		})}}
		if err := d.Complete(reflect.TypeFor[int](), m, m); err != nil {
			t.Skip("no more: ", err)
		}
		if i%500 != 0 {
			continue
		}
		v := reflect.New(d.Type()).Elem()
		v.SetInt(9)
		x, ok := v.Interface().(interface {
			F(a, b int, s string, f float64) (string, float64)
		})
		if !ok {
			t.Fatal("the type lacks its method")
		}
		s, f := x.F(1, 2, "x", 1.5)
		if want := fmt.Sprint(i, 9, 1, 2, "x", 1.5); s != want || f != 3 {
			t.Fatalf("type %d: got %s, %v, want %s", i, s, f, want)
		}
	}
}
