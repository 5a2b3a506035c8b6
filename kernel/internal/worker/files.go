package worker

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// wholeLines ends the last line of a text.
func wholeLines(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// writeFile is %%writefile.
func writeFile(args, body string) error {
	message, err := addFile(args, wholeLines(body))
	if err != nil {
		return err
	}
	fmt.Println(message)
	return nil
}

// saveFile writes a new file; with -f it may be there.
func saveFile(args, body string) error {
	rest, replaces := strings.CutPrefix(args, "-f ")
	name := path(rest)
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replaces {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	err := put(name, flags, body)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already: %%save -f %s replaces it", name, rest)
	}
	if err == nil {
		fmt.Printf("Wrote %s (%d bytes)\n", name, len(body))
	}
	return err
}

func put(name string, flags int, text string) error {
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// addFile writes a file, or adds to it: args are "[-a] FILE".
func addFile(args, body string) (message string, err error) {
	rest, appends := strings.CutPrefix(args, "-a ")
	if rest, ok := strings.CutSuffix(args, " -a"); ok && !appends {
		return "", fmt.Errorf("write it before the file: -a %s", rest)
	}
	name := path(rest)
	if name == "" || name == "-a" {
		return "", errors.New("which file? Its name follows: [-a] FILE")
	}
	flags, verb := os.O_WRONLY|os.O_CREATE|os.O_TRUNC, "Wrote"
	if appends {
		flags, verb = os.O_WRONLY|os.O_CREATE|os.O_APPEND, "Added to"
	}
	if err := put(name, flags, body); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s (%d bytes)", verb, name, len(body)), nil
}
