package display

import (
	"fmt"
	"maps"
	"strings"

	"github.com/branchbook/branchbook/kernel/internal/engine"
)

// maxText is how many bytes of a text/plain are shown: about a screen of a
// thousand lines. A longer value ends in a note.
const maxText = 100_000

// Result returns the bundle of a cell's values, joined by spaces as Println
// does it, or nil when there is nothing to show. A trailing error that is nil
// is left out; one that is not is no value but the cell's error, which
// [Failure] finds.
func Result(values []engine.Value) map[string]any {
	if n := len(values); n > 0 && values[n-1].Type == "error" {
		values = values[:n-1]
	}
	if len(values) == 0 {
		return nil
	}
	bundle := map[string]any{}
	var texts []string
	for _, v := range values {
		b := bundleOf(v)
		texts = append(texts, b["text/plain"].(string))
		maps.Copy(bundle, b)
	}
	if len(values) > 1 {
		// Several values: their texts together. A rich form of one of them
		// would hide the others, so it is kept only if it stands alone.
		bundle = map[string]any{}
	}
	bundle["text/plain"] = clip(strings.Join(texts, " "))
	return bundle
}

// Failure returns the error that the values end in, if there is one.
func Failure(values []engine.Value) (message string, failed bool) {
	n := len(values)
	if n == 0 || values[n-1].Type != "error" || values[n-1].Any == nil {
		return "", false
	}
	v := bind(values[n-1])
	if v.Error != nil {
		if text, ok := call(v.Error); ok {
			return text, true
		}
	}
	return Text(v.Any), true
}

// Of returns the bundle of a value, which may be an [engine.Value].
func Of(v any) map[string]any {
	if v, ok := v.(engine.Value); ok {
		return bundleOf(v)
	}
	return bundleOf(engine.Value{Any: v})
}

// bind finds the methods that the engine did not bind because the value, of
// compiled code, has them itself.
func bind(v engine.Value) engine.Value {
	if m, ok := v.Any.(interface{ MIMEBundle() map[string]any }); ok && v.MIMEBundle == nil {
		v.MIMEBundle = m.MIMEBundle
	}
	if m, ok := v.Any.(error); ok && v.Error == nil {
		v.Error = m.Error
	}
	if m, ok := v.Any.(fmt.Stringer); ok && v.String == nil {
		v.String = m.String
	}
	return v
}

// Metadata returns what the front end is to know of a value's forms; nil where
// there is nothing.
func Metadata(v any) (m map[string]any) {
	if e, ok := v.(engine.Value); ok {
		v = e.Any
	}
	if d, ok := v.(interface{ MIMEMetadata() map[string]any }); ok {
		protect(func() { m = d.MIMEMetadata() })
	}
	return m
}

func bundleOf(v engine.Value) map[string]any {
	v = bind(v)
	if v.MIMEBundle != nil {
		var b map[string]any
		if protect(func() { b = v.MIMEBundle() }) && b != nil {
			b = maps.Clone(b)
			if _, ok := b["text/plain"].(string); !ok {
				b["text/plain"] = plain(v)
			}
			return encode(b)
		}
	}
	if page := chartPage(v.Any); page != "" {
		return map[string]any{"text/html": page, "text/plain": plain(v)}
	}
	if b := rendered(v); len(b) > 0 {
		if _, ok := b["text/plain"].(string); !ok {
			b["text/plain"] = plain(v)
		}
		return encode(b)
	}
	if data, text := picture(v); data != nil {
		return map[string]any{"text/plain": text, "image/png": data}
	}
	return encode(map[string]any{"text/plain": plain(v)})
}

func plain(v engine.Value) string {
	if text, ok := words(v); ok {
		return clip(text)
	}
	if _, ok := v.Any.(pageWriter); ok { // its fields say nothing to a reader
		return fmt.Sprintf("%T (a page that loads ECharts from the web)", v.Any)
	}
	if m, ok := v.Any.(matrix); ok {
		out := ""
		if protect(func() { out = matrixText(m) }) {
			return out
		}
	}
	return text(v)
}

// words are what a value's Error, String or Format method says, if it has one
// that does not panic.
func words(v engine.Value) (text string, ok bool) {
	for _, method := range []func() string{v.Error, v.String} {
		if method == nil {
			continue
		}
		if text, ok := call(method); ok {
			return text, true
		}
	}
	if f, ok := v.Any.(fmt.Formatter); ok {
		return call(func() string { return fmt.Sprintf("%v", f) })
	}
	return "", false
}

// call runs a user's method; ok is false when it panicked.
func call(method func() string) (text string, ok bool) {
	ok = protect(func() { text = method() })
	return text, ok
}

// protect reports whether f returned. A String method on a nil pointer is the
// common case where it does not.
func protect(f func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	f()
	return true
}

// encode gives the bundle the forms that JSON and the protocol want: text as
// strings, pictures in base64 (which encoding/json makes of bytes).
func encode(b map[string]any) map[string]any {
	for mime, data := range b {
		if raw, ok := data.([]byte); ok && isText(mime) {
			b[mime] = string(raw)
		}
	}
	return b
}

func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+xml") || strings.HasSuffix(mime, "javascript")
}

// clip shortens text to maxText bytes and says so.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := strings.ToValidUTF8(text[:maxText], "")
	return fmt.Sprintf("%s… (%d of %d bytes shown)", cut, len(cut), len(text))
}
