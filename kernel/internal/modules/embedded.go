package modules

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/exports"
)

// EmbeddedVersion returns the version of the module that holds path, if some of
// its packages are in Branchbook, compiled; "" for all others.
func EmbeddedVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if within(path, dep.Path) && len(Embedded(dep.Path)) > 0 {
			return dep.Version
		}
	}
	return ""
}

// Embedded lists the packages of a module that are in Branchbook, compiled.
func Embedded(module string) []string {
	var list []string
	for path := range exports.Names() {
		if within(path, module) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// within tells whether path is that of the module, or below it.
func within(path, module string) bool {
	rest, ok := strings.CutPrefix(path, module)
	return ok && (rest == "" || rest[0] == '/')
}
