package yaegi

import "reflect"

// Case is a clause of a select statement.
type Case struct {
	reflect.SelectCase
	value reflect.Value // where a received value goes
	ok    *bool
}

func recvCase(ch, value any, ok *bool) Case {
	return Case{SelectCase: reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ch)}, value: reflect.ValueOf(value), ok: ok}
}

func sendCase(ch, value any) Case {
	c := Case{SelectCase: reflect.SelectCase{Dir: reflect.SelectSend, Chan: reflect.ValueOf(ch)}}
	if c.Chan.IsValid() && !c.Chan.IsNil() {
		c.Send = reflect.ValueOf(value).Elem()
	}
	return c
}

// selectCases is a select statement: it returns the index of the chosen case,
// or -1 for the default and after an interrupt.
func (e *Engine) selectCases(hasDefault bool, cases ...Case) int {
	list := make([]reflect.SelectCase, 0, len(cases)+1)
	for _, c := range cases {
		if !c.Chan.IsValid() || c.Chan.IsNil() { // a nil channel blocks for ever
			c.SelectCase = reflect.SelectCase{Dir: reflect.SelectRecv}
		}
		list = append(list, c.SelectCase)
	}
	if hasDefault {
		list = append(list, reflect.SelectCase{Dir: reflect.SelectDefault})
	} else {
		list = append(list, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(e.stopping())})
	}
	i, v, ok := reflect.Select(list)
	if i == len(cases) {
		return -1
	}
	if c := cases[i]; c.Dir == reflect.SelectRecv {
		if c.value.IsValid() {
			c.value.Elem().Set(v)
		}
		if c.ok != nil {
			*c.ok = ok
		}
	}
	return i
}
