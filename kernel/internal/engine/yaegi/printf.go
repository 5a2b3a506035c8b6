package yaegi

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// sprintf is fmt.Sprintf for a format with %T or %p, which ask no method of
// their operands: it prints the names that types have in Go, and addresses.
func (e *Engine) sprintf(format string, args []any) string {
	var b strings.Builder
	next, reordered := 0, false
	take := func() any {
		next++
		if next > len(args) || next < 1 {
			return nil
		}
		return args[next-1]
	}
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		b.WriteString(format[:i])
		spec, verb, rest := cutVerb(format[i:])
		format = rest
		switch verb {
		case '%':
			b.WriteByte('%')
			continue
		case 0:
			b.WriteString("%!(NOVERB)")
			continue
		}
		var operands []any
		flags := ""
		for spec != "" {
			switch spec[0] {
			case '[':
				k := strings.IndexByte(spec, ']')
				if n, err := strconv.Atoi(spec[1:max(k, 1)]); err == nil {
					next, reordered = n-1, true
				}
				spec = spec[k+1:]
			case '*':
				operands = append(operands, take())
				fallthrough
			default:
				flags, spec = flags+spec[:1], spec[1:]
			}
		}
		if next >= len(args) {
			b.WriteString(fmt.Sprintf(flags, operands...)) // says what is missing
			continue
		}
		x := take()
		switch verb {
		case 'T':
			flags, x = strings.TrimSuffix(flags, "T")+"s", e.operandType(x)
		case 'p':
			x = core(x)
		}
		b.WriteString(fmt.Sprintf(flags, append(operands, x)...))
	}
	if !reordered && next < len(args) {
		return b.String() + fmt.Sprintf(format, args[next:]...) // %!(EXTRA ...)
	}
	return b.String() + format
}

// cutVerb cuts a conversion off the start of a format.
func cutVerb(s string) (spec string, verb rune, rest string) {
	for i, r := range s[1:] {
		if !strings.ContainsRune("+-# 0123456789.*[]", r) {
			end := 1 + i + len(string(r))
			return s[:end], r, s[end:]
		}
	}
	return s, 0, ""
}

// operandType is the name of the type of a value to format.
func (e *Engine) operandType(x any) string {
	switch x := x.(type) {
	case mirror:
		if x.t != nil {
			return goType(x.t)
		}
		return e.operandType(x.v)
	case errorText:
		return e.operandType(x.IValue)
	case nil:
		return "<nil>"
	}
	if t := e.types.get(e.typeName(x)); t != nil {
		return goType(t)
	}
	return reflect.TypeOf(core(x)).String()
}
