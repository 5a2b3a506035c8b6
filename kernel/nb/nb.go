package nb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync/atomic"
)

// Host is what shows things, for [Attach].
type Host interface {
	// Show shows v. With an id, later ones can replace it; when update is set
	// it replaces those. It returns when what was shown before is under way.
	Show(v any, id string, update bool)
	// Bundle returns the forms in which Show shows v.
	Bundle(v any) map[string]any
	Clear(wait bool)
	// Input asks the user for a line, which it returns without its end.
	Input(prompt string, password bool) (string, error)
	// Feed adds to what the standard input holds.
	Feed(text string) error
	// SendComm sends a comm message of the type kind: "comm_open" with its
	// target, "comm_msg", "comm_close". What comes goes to ReceiveComm.
	SendComm(kind, id, target string, m CommMessage) error
	// CommTarget says whether a target is there, for comms that the page opens.
	CommTarget(name string, there bool)
	// Context is the running cell's.
	Context() context.Context
}

var host atomic.Pointer[Host]

// Attach connects the package to a notebook. The worker does that; cells have
// no need to.
func Attach(h Host) { host.Store(&h) }

// Display shows v under the cell, at once: its MIMEBundle if it has one, a
// picture if it is an image.Image, else text.
func Display(v any) { show(v, "", false) }

// DisplayID shows v like Display, under a name by which Update can replace it.
func DisplayID(id string, v any) { show(v, id, false) }

// Update replaces everything shown under id by v.
func Update(id string, v any) { show(v, id, true) }

// Clear removes the cell's output: at once, or, if wait is set, when the next
// output comes, so that nothing flickers.
func Clear(wait bool) {
	if h := host.Load(); h != nil {
		(*h).Clear(wait)
	}
}

// NewID returns a random name for DisplayID.
func NewID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

func show(v any, id string, update bool) {
	if h := host.Load(); h != nil {
		(*h).Show(v, id, update)
		return
	}
	fmt.Fprintln(os.Stdout, plain(v))
}

// BundleOf returns the forms in which Display shows v.
func BundleOf(v any) Bundle {
	if h := host.Load(); h != nil {
		return (*h).Bundle(v)
	}
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		return m.MIMEBundle()
	}
	return Bundle{"text/plain": plain(v)}
}

// plain is v's text where there is no notebook.
func plain(v any) string {
	if m, ok := v.(interface{ MIMEBundle() map[string]any }); ok {
		if text, ok := m.MIMEBundle()["text/plain"].(string); ok {
			return text
		}
	}
	return fmt.Sprint(v)
}
