package rtype

import "testing"

func TestUnfit(t *testing.T) {
	for _, test := range []struct {
		processor     bool
		version, want string
	}{
		{true, "go1.26", ""},
		{true, "go1.26.8", ""},
		{true, "go1.26rc1", ""},
		{true, "devel go1.26-4f2a1c Mon Sep 1", ""},
		{true, "go1.27.1", "it knows the runtime of go1.26 and this program is built with go1.27.1"},
		{true, "go1.260", "it knows the runtime of go1.26 and this program is built with go1.260"},
		{true, "gccgo", "it knows the runtime of go1.26 and this program is built with gccgo"},
		{false, "go1.26", "it knows no mips processors"},
	} {
		if got := unfit(test.processor, "mips", test.version); got != test.want {
			t.Errorf("%v, %s: %q, want %q", test.processor, test.version, got, test.want)
		}
	}
	if got := Unfit(); processor && got != "" {
		t.Errorf("here: %s", got)
	}
}
