// Package display turns the values of a cell into what a notebook shows: a
// MIME bundle with at least a text/plain.
//
// It looks at a value's methods first (MIMEBundle, Error, String), then at
// what it is (a picture, a plot that can draw itself), then prints it as a Go
// reader would like to see it, within limits.
package display
