//go:build race

package enginetest

// Race says whether the race detector is on. It then finds what programs do on
// purpose, too: read what code that was left behind wrote.
const Race = true
