//go:build !linux || !amd64

package rtype

import (
	"errors"
	"unsafe"
)

type stubPage struct {
	closures *[pageStubs]unsafe.Pointer
	code     uintptr
}

const (
	pageStubs    = 1
	pageStubSize = 1
)

func newStubPage() (stubPage, error) { return stubPage{}, errors.New("not on this system") }
