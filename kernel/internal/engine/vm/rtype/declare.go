package rtype

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Method is a method of a type or of an interface.
type Method struct {
	Name     string
	Exported bool
	Type     reflect.Type // without the receiver
	// Word and Value are the method as functions whose first argument is the
	// receiver: Word's is the data word of an interface, of type
	// unsafe.Pointer; Value's is the receiver itself. Func values; unused for
	// interfaces.
	Word, Value reflect.Value
}

// Decl is a named type that is being made.
type Decl struct {
	typ, ptr         *Type
	methods, ptrMeth []method
	uncommon, ptrUnc *uncommon
}

// made keeps all types alive: the garbage collector does not look for them in
// interface values.
var made struct {
	sync.Mutex
	types []*Type
}

var serial atomic.Uint64

// Declare makes a named type; methods and ptrMethods count the methods of the
// type and of the pointer to it.
//
// An empty title makes a type without name, for a struct whose embedded fields
// have methods.
//
// shape is a type of the same kind and memory layout as the underlying type,
// with equality of its own: it need not mention types that are not made yet.
// The type can be used for everything but its elements, fields and methods
// before Complete.
func Declare(title, pkgPath string, shape reflect.Type, methods, ptrMethods int) *Decl {
	params := 0
	if shape.Kind() == reflect.Func {
		params = shape.NumIn() + shape.NumOut()
	}
	d := &Decl{}
	d.typ, d.uncommon, d.methods = allocate(shape.Kind(), params, methods)
	d.typ.copyHeader(Of(shape))
	d.typ.flag |= flagUncommon // a function's parameters lie behind what that is for
	d.typ.copyRest(Of(shape))  // package reflect looks at the fields of map keys
	if pkgPath != "" {
		d.uncommon.pkgPath = offset(name(pkgPath, "", false, false, 0))
	}
	if title == "" {
		d.typ.str = Of(shape).str
	} else {
		d.typ.flag |= flagNamed
		d.typ.str = offset(name(lastElement(pkgPath)+"."+title, "", true, false, 0))
	}
	d.typ.Hash = hash(fmt.Sprint(pkgPath, ".", title, serial.Add(1)))
	d.typ.ptrToThis = 0
	d.ptr = pointerTo(d.typ, ptrMethods, d)
	keep(d.typ, d.ptr)
	return d
}

func lastElement(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// pointerTo makes the pointer type with its methods and makes reflect find it.
func pointerTo(t *Type, methods int, d *Decl) *Type {
	p, u, ms := allocate(reflect.Pointer, 0, methods)
	p.copyHeader(Of(reflect.TypeFor[*int]()))
	(*elemType)(unsafe.Pointer(p)).elem = t
	p.flag |= flagUncommon
	p.flag &^= flagNamed | flagExtraStar
	p.str = offset(name("*"+t.Reflect().String(), "", true, false, 0))
	p.Hash = t.Hash*16777619 ^ '*'
	p.ptrToThis = 0
	u.pkgPath = d.uncommon.pkgPath
	d.ptrUnc, d.ptrMeth = u, ms
	t.ptrToThis = offset((*byte)(unsafe.Pointer(p)))
	return p
}

// Type returns the type.
func (d *Decl) Type() reflect.Type { return d.typ.Reflect() }

// Complete gives the type its underlying type and methods, which are sorted
// as Go's: exported ones first, by name.
func (d *Decl) Complete(under reflect.Type, methods, ptrMethods []Method) error {
	d.typ.copyRest(Of(under))
	if under.Kind() == reflect.Interface {
		// An interface's methods are of its underlying type.
		(*interfaceType)(unsafe.Pointer(d.typ)).pkgPath = (*interfaceType)(unsafe.Pointer(Of(under))).pkgPath
		return nil
	}
	if err := fill(d.uncommon, d.methods, methods); err != nil {
		return err
	}
	return fill(d.ptrUnc, d.ptrMeth, ptrMethods)
}

func fill(u *uncommon, to []method, from []Method) error {
	for i, m := range from {
		word, err := stub(FuncPointer(m.Word))
		if err != nil {
			return err
		}
		value := word
		if m.Value.IsValid() {
			if value, err = stub(FuncPointer(m.Value)); err != nil {
				return err
			}
		}
		to[i] = method{
			name: offset(name(m.Name, "", m.Exported, false, 0)),
			typ:  offset((*byte)(unsafe.Pointer(Of(m.Type)))),
			ifn:  word, tfn: value,
		}
		if m.Exported {
			u.exported++
		}
	}
	u.methods = uint16(len(from))
	return nil
}

var stubsUsed struct {
	sync.Mutex
	n    int
	more []stubPage
}

// stub returns the offset of a piece of code that jumps to a closure.
func stub(closure unsafe.Pointer) (int32, error) {
	stubsUsed.Lock()
	defer stubsUsed.Unlock()
	i := stubsUsed.n
	if i < stubCount {
		methods[i] = closure
		stubsUsed.n++
		return addReflectOff(pointer(stubs + uintptr(i)*stubSize)), nil
	}
	i -= stubCount
	if i/pageStubs == len(stubsUsed.more) {
		p, err := newStubPage()
		if err != nil {
			return 0, fmt.Errorf("rtype: make more than %d methods: %w; a new process, as of %%reset, has as many again", stubCount, err)
		}
		stubsUsed.more = append(stubsUsed.more, p)
	}
	stubsUsed.n++
	p := stubsUsed.more[i/pageStubs]
	p.closures[i%pageStubs] = closure
	return addReflectOff(pointer(p.code + uintptr(i%pageStubs)*pageStubSize)), nil
}

func offset(p *byte) int32 { return addReflectOff(unsafe.Pointer(p)) }

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

func keep(ts ...*Type) {
	made.Lock()
	defer made.Unlock()
	made.types = append(made.types, ts...)
}

// copyHeader copies what concerns memory.
func (t *Type) copyHeader(from *Type) {
	*t = *from
	t.flag &^= flagNamed | flagUncommon | flagExtraStar
}

// copyRest copies what lies behind the header: elements, fields.
func (t *Type) copyRest(from *Type) {
	switch reflect.Kind(t.kind) {
	case reflect.Array:
		a, b := (*arrayType)(unsafe.Pointer(t)), (*arrayType)(unsafe.Pointer(from))
		a.elem, a.slice, a.len = b.elem, b.slice, b.len
	case reflect.Chan:
		a, b := (*chanType)(unsafe.Pointer(t)), (*chanType)(unsafe.Pointer(from))
		a.elem, a.dir = b.elem, b.dir
	case reflect.Pointer, reflect.Slice:
		(*elemType)(unsafe.Pointer(t)).elem = (*elemType)(unsafe.Pointer(from)).elem
	case reflect.Map:
		header := *t
		*(*mapType)(unsafe.Pointer(t)) = *(*mapType)(unsafe.Pointer(from))
		*t = header
	case reflect.Struct:
		a, b := (*structType)(unsafe.Pointer(t)), (*structType)(unsafe.Pointer(from))
		a.pkgPath, a.fields = b.pkgPath, b.fields
		t.Equal, t.flag = b.Equal, t.flag&^flagMemory|b.flag&flagMemory
	case reflect.Interface:
		a, b := (*interfaceType)(unsafe.Pointer(t)), (*interfaceType)(unsafe.Pointer(from))
		a.pkgPath, a.methods = b.pkgPath, b.methods
	case reflect.Func:
		a, b := (*funcType)(unsafe.Pointer(t)), (*funcType)(unsafe.Pointer(from))
		a.in, a.out = b.in, b.out
		copy(a.params(), b.params())
	}
}

// params are the types of a function's parameters and results.
func (f *funcType) params() []*Type {
	at := unsafe.Sizeof(*f)
	if f.flag&flagUncommon != 0 {
		at += unsafe.Sizeof(uncommon{})
	}
	n := int(f.in) + int(f.out&^variadicResult)
	return unsafe.Slice((**Type)(unsafe.Add(unsafe.Pointer(f), at)), n)
}

var bodies = map[reflect.Kind]reflect.Type{
	reflect.Array: reflect.TypeFor[arrayType](), reflect.Chan: reflect.TypeFor[chanType](), reflect.Func: reflect.TypeFor[funcType](),
	reflect.Interface: reflect.TypeFor[interfaceType](), reflect.Map: reflect.TypeFor[mapType](), reflect.Pointer: reflect.TypeFor[elemType](),
	reflect.Slice: reflect.TypeFor[elemType](), reflect.Struct: reflect.TypeFor[structType](),
}

// allocate returns memory for a type with its uncommon part and methods.
func allocate(k reflect.Kind, params, methods int) (*Type, *uncommon, []method) {
	body := bodies[k]
	if body == nil {
		body = reflect.TypeFor[Type]()
	}
	p := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "T", Type: body},
		{Name: "U", Type: reflect.TypeFor[uncommon]()},
		{Name: "P", Type: reflect.ArrayOf(params, reflect.TypeFor[*Type]())},
		{Name: "M", Type: reflect.ArrayOf(max(1, methods), reflect.TypeFor[method]())}, // no pointer to the object's end
	})).Elem()
	u := (*uncommon)(p.Field(1).Addr().UnsafePointer())
	m := p.Field(3).Addr().UnsafePointer()
	u.off = uint32(uintptr(m) - uintptr(unsafe.Pointer(u)))
	return (*Type)(p.Addr().UnsafePointer()), u, unsafe.Slice((*method)(m), methods)
}
