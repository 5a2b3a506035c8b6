package worker

import (
	"flag"
	"os"
	"strconv"
	"strings"
)

// prepareFlags lets cells be programs with flags: they have no arguments of
// ours, and a wrong one is a panic and not the end of the process.
func prepareFlags() {
	os.Args = []string{"cell"}
	flag.CommandLine = newFlags()
}

func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet(os.Args[0], flag.PanicOnError)
	flags.Usage = func() { flag.Usage() }
	return flags
}

// forgetFlags forgets the flags whose names are strings in the source: package
// flag would not have them defined again by a cell that runs once more.
func forgetFlags(source string) {
	if !strings.Contains(source, "flag.") {
		return
	}
	flags := newFlags()
	flag.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(source, strconv.Quote(f.Name)) {
			flags.Var(f.Value, f.Name, f.Usage)
			flags.Lookup(f.Name).DefValue = f.DefValue
		}
	})
	flag.CommandLine = flags
}
