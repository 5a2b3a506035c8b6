package rtype

import (
	"encoding/binary"
	"syscall"
	"unsafe"
)

// A stubPage is more of stubs_amd64.s, for programs with very many methods.
type stubPage struct {
	closures *[pageStubs]unsafe.Pointer
	code     uintptr
}

const (
	pageStubs    = 4096
	pageStubSize = 32
)

func newStubPage() (stubPage, error) {
	code, err := syscall.Mmap(-1, 0, pageStubs*pageStubSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return stubPage{}, err
	}
	p := stubPage{new([pageStubs]unsafe.Pointer), uintptr(unsafe.Pointer(&code[0]))}
	for i := range p.closures {
		b := append(code[i*pageStubSize:i*pageStubSize], 0x48, 0xba) // MOVQ $&closures[i], DX
		b = binary.LittleEndian.AppendUint64(b, uint64(uintptr(unsafe.Pointer(&p.closures[i]))))
		b = append(b, 0x48, 0x8b, 0x12) // MOVQ (DX), DX
		b = append(b, 0x4c, 0x8b, 0x22) // MOVQ (DX), R12
		_ = append(b, 0x41, 0xff, 0xe4) // JMP R12
	}
	return p, syscall.Mprotect(code, syscall.PROT_READ|syscall.PROT_EXEC)
}
