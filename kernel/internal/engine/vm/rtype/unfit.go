package rtype

import (
	"runtime"
	"strings"
)

// knownGo is the version of Go whose runtime structures abi.go has.
const knownGo = "go1.26"

// Unfit says why types cannot be made in this program; it is empty where they
// can.
func Unfit() string { return unfit(processor, runtime.GOARCH, runtime.Version()) }

func unfit(processor bool, arch, version string) string {
	_, rest, found := strings.Cut(version, knownGo) // "devel go1.26-4f2a1c", "go1.26.8 X:exp"
	switch {
	case !processor:
		return "it knows no " + arch + " processors"
	case !found || rest != "" && rest[0] >= '0' && rest[0] <= '9':
		return "it knows the runtime of " + knownGo + " and this program is built with " + version
	}
	return ""
}
