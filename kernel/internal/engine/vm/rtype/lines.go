package rtype

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Lines of functions that are not compiled can have pcs which package runtime
// resolves to their place, as it does those of compiled code: FuncForPC,
// CallersFrames and what uses them, as log/slog does. To the runtime each such
// function is a module of its own, like a plugin's; no code lies at its pcs.

// Lines has the pcs of a function's lines.
type Lines struct {
	Entry       uintptr
	first, last int
}

// PC is the address that a call in a line returns to; 0 if the line has none.
func (l Lines) PC(line int) uintptr {
	if l.Entry == 0 || line < l.first || line > l.last {
		return 0
	}
	return l.Entry + uintptr(line-l.first)*perLine + 1
}

// A line has the address of a call and the one behind it, which is where the
// call returns to: tools look at both.
const perLine = 2

// pcs is where the pcs come from: addresses in the program at which there
// can be no code. Nothing reads or writes it.
var pcs [16 << 20]byte

var modules struct {
	sync.Mutex
	used uintptr
	all  []*module // package runtime's references keep nothing alive
}

// NewLines gives pcs to the lines of a function; none are given once there are
// too many.
func NewLines(name, file string, first, last int) Lines {
	modules.Lock()
	defer modules.Unlock()
	size := uintptr(last-first+1) * perLine
	if last < first || first < 1 || modules.used+size > uintptr(len(pcs)) {
		return Lines{}
	}
	entry := uintptr(unsafe.Pointer(&pcs)) + modules.used
	modules.used += size
	m := newModule(name, file, first, last, entry, size)
	modules.all = append(modules.all, m)
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&lastModule.next)), unsafe.Pointer(m))
	lastModule = m
	return Lines{entry, first, last}
}

//go:linkname lastModule runtime.lastmoduledatap
var lastModule *module

// module is runtime.moduledata.
type module struct {
	header      *lineHeader
	funcNames   []byte
	units       []uint32
	files       []byte
	pcs         []byte
	lines       []byte
	functions   []functionEntry
	find        unsafe.Pointer
	minPC       uintptr
	maxPC       uintptr
	text, etext uintptr

	_ [18]uintptr // addresses of data, types and the like

	_ [3][]uintptr // textsectmap, typelinks, itablinks
	_ []uintptr    // ptab
	_ string       // pluginpath
	_ [2][]uintptr // pkghashes, inittasks

	name string
	_    []uintptr // modulehashes

	_   bool // hasmain
	bad bool // the garbage collector and package reflect pass it over

	_ [2]struct { // gcdatamask, gcbssmask
		n     int32
		bytes unsafe.Pointer
	}
	_    unsafe.Pointer // typemap
	next *module
}

// lineHeader is runtime.pcHeader.
type lineHeader struct {
	magic            uint32
	_                [2]uint8
	quantum, pointer uint8
	nfunc            int
	nfiles           uint
	_                [6]uintptr
}

type functionEntry struct{ entry, function uint32 }

// functionHead is runtime._func.
type functionHead struct {
	entry     uint32
	name      int32
	_         int32
	_         uint32
	sp        uint32
	file      uint32
	line      uint32
	npcdata   uint32
	unit      uint32
	startLine int32
	_         [4]uint8 // id, flag, pad, nfuncdata
}

const (
	lineMagic  = 0xfffffff1
	bucketSize = 4096 // pcs of a bucket of runtime.findfuncbucket
	bucketLen  = 20
)

func newModule(name, file string, first, last int, entry, size uintptr) *module {
	// A table of values by pc is a list of differences, of the value and of
	// the pc. The value is -1 at first. Offset 0 means that there is no table.
	table := []byte{0}
	add := func(value int64, pc uintptr) {
		table = binary.AppendVarint(table, value)
		table = binary.AppendUvarint(table, uint64(pc))
	}
	head := functionHead{name: 1, startLine: int32(first), file: uint32(len(table))}
	add(1, size) // the first file
	table = append(table, 0)
	head.line = uint32(len(table))
	add(int64(first)+1, perLine)
	for range last - first {
		add(1, perLine)
	}
	table = append(table, 0)
	heads := []functionHead{head}
	buckets := make([]byte, (size/bucketSize+1)*bucketLen) // all begin with function 0
	return &module{
		header:    &lineHeader{magic: lineMagic, quantum: 1, pointer: 8, nfunc: 1, nfiles: 1},
		funcNames: []byte("\x00" + name + "\x00"),
		units:     []uint32{0},
		files:     []byte(file + "\x00"),
		pcs:       table,
		lines:     unsafe.Slice((*byte)(unsafe.Pointer(&heads[0])), unsafe.Sizeof(head)),
		functions: []functionEntry{{0, 0}, {uint32(size), 0}},
		find:      unsafe.Pointer(&buckets[0]),
		minPC:     entry, maxPC: entry + size, text: entry, etext: entry + size,
		name: name,
		bad:  true,
	}
}
