package nb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Input asks the user for a line of text and returns it without its end:
//
//	name := must(nb.Input("Your name: "))
//
// The error is io.EOF where the user ends the input (Ctrl-D in a terminal),
// the context's where the cell is interrupted, and says so where nobody can be
// asked: papermill and nbconvert take no input. What cells read from os.Stdin,
// by package fmt for example, is asked for in the same way, without a prompt.
func Input(prompt string) (string, error) { return input(prompt, false) }

// Password is Input that does not show what is typed.
func Password(prompt string) (string, error) { return input(prompt, true) }

func input(prompt string, password bool) (string, error) {
	if h := host.Load(); h != nil {
		return (*h).Input(prompt, password)
	}
	fmt.Fprint(os.Stdout, prompt)
	return readLine(os.Stdin)
}

// readLine reads no further than the line: what follows is for others.
func readLine(r io.Reader) (string, error) {
	var line strings.Builder
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		switch {
		case n == 1 && b[0] == '\n':
			return strings.TrimSuffix(line.String(), "\r"), nil
		case n == 1:
			line.WriteByte(b[0])
		case err == io.EOF && line.Len() > 0:
			return line.String(), nil
		case err != nil:
			return "", err
		}
	}
}

// Feed adds text to the standard input, in front of what the user will be asked
// for: a program that reads its input runs so without a person.
//
//	nb.Feed("3\n1 2 3\n")
//	main()
//
// It lasts until the cell ends.
func Feed(text string) error {
	if h := host.Load(); h != nil {
		return (*h).Feed(text)
	}
	return errors.New("nb: feed the standard input: there is no notebook")
}
