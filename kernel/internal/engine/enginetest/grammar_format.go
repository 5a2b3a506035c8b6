package enginetest

// formats draws what package fmt says of values of all kinds.
func (g *grammar) formats() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$f", g.of(floatType, 1), "$s", g.of(stringType, 1), "$p", g.line(),
		"$v", one(g, "%v", "%+v", "%#v", "%T")}
	value := one(g, "$x", "[]$t{$x, $y}", "[2]$t{$x}", "map[string]$t{\"a\": $x}", "&struct{ a $t }{$x}", "struct { A $t; b []$t }{$x, nil}", "pair[$t, int]{$x, $i}", "&pair[int, $t]{}", "[]any{$x, nil, $i}",
		"text($s)", "[]text{\"a\", text($s)}", "map[text]text{\"k\": \"v\"}", "failure{$i, coded{1}}", "&bad{$i}", "[]error{failure{1, nil}, nil}", "base{$i}", "middle{base{$i}, $s}", "[]byte($s)", "[3]byte{1, 2}", "'x'", "$f", "complex($f, 1)",
		"(*$t)(nil) == nil", "[]$t(nil)", "map[int]$t(nil)", "error(nil)", "any(nil)", "struct{}{}", "[]struct{}{{}}", "fmtr{$i}", "&fmtr{2}", "[]fmtr{{1}}", "gost{$i}", "set[int]{$i: {}}", "twins[$t]{$x, $y}", "list[$t]{}", "stack[$t]{xs: []$t{$x}}",
		"level($i)", "[]level{1, 2}", "struct { *level; n int }{nil, 2}", "struct { text; n int }{\"t\", 3}", "struct { e error }{failure{2, nil}}", "uintptr(7)", "any([]any{1, \"a\"})", "map[level]bool{1: true, 0: false}", "[]*int{nil}", "struct{ f func() }{}", "(chan $t)(nil)", "(func())(nil)", "map[any]int{1: 1, \"a\": 2, 2.5: 3}",
		"time.Duration($i)", "[]time.Duration{1e9}", "json.Number(\"1\")", "reflect.ValueOf($x).Kind()")
	switch g.between(0, 5) {
	case 0:
		return fill(fill(one(g,
			`fmt.Printf("%5d|%-5d|%05d|%+d|%x|%X|%o|%b|%c|%U|%q\n", $i, $i, $i, $i, $i, $i, $i, uint8($i), rune(uint8($i)), rune(uint8($i)), rune(uint8($i)))`,
			`fmt.Printf("%6.2f|%-8.1e|%g|%+.3g|%8v|%t|%5t\n", $f, $f, $f, $f, $f, $f > 0, $f == $f)`,
			`fmt.Printf("%10s|%-10s|%.2s|%q|%x|% X|%s\n", $s, $s, $s, $s, $s, $s, []string{$s})`,
			`fmt.Printf("%d %s\n", $x, $y)`,
			`fmt.Printf("%!|%z %d|%[2]*[1]d|%[3]v %v\n", $i, 5, $x)`,
			`fmt.Printf("%d\n", $i, $x); fmt.Printf("%s %v %d\n", $s)`,
			`fmt.Printf("%6v|%-6v|%06d|%x|%q\n", []int{$i}, [2]int{1}, []int{2}, []string{$s}, []string{$s})`,
			`fmt.Printf("%s|%v|%d|%x|%q\n", text($s), text($s), level($i), level($i), text($s))`,
			`fmt.Printf("%s|%v|%+v|%#v|%d\n", fmtr{$i}, fmtr{$i}, fmtr{$i}, fmtr{$i}, fmtr{$i})`,
			`fmt.Printf("%v %v %s\n", struct{ a, b any }{$i, $x}, &[]int{1}, errors.Join(bad1, failure{$i, nil}))`,
			`{ var e error; var s fmt.Stringer; var b *bad; fmt.Printf("%v %v %v %s %d\n", e, s, b, e, s) }`,
			`fmt.Printf("%v %s\n", panics{}, panics{})`,
			`{ n, err := fmt.Println($p, $x)); fmt.Println(n, err); var b strings.Builder; k, _ := fmt.Fprint(&b, $i, $i, "a", "b", 1, 2, $s); fmt.Println(k, b.String()) }`,
		), in...), in...)
	case 1:
		return fill(fill("{ v := "+value+"; $p, fmt.Sprintf(\"%v|%+v\", v, v), fmt.Sprint(v, v)) }", in...), in...)
	case 2:
		return fill(fill("{ v := "+value+"; fmt.Printf(\"%T %#v\\n\", v, v) }", in...), in...)
	case 3:
		within := "[]any{v}"
		if value[0] == '&' { // would print an address
			within = "v"
		}
		return fill(fill("{ var v any = "+value+"; $p, v); fmt.Printf(\"$v $v\\n\", v, "+within+") }", in...), in...)
	case 4:
		return fill(fill("{ v := "+value+"; r := reflect.ValueOf(&v).Elem(); $p, r.Kind(), r.Type(), r.Type().Comparable(), r.Type().NumMethod(), r.Type().Name(), r.Type().Size(), r.CanSet(), r.IsZero()); if r.Kind() == reflect.Struct { for i := range r.NumField() { f := r.Type().Field(i); $p, f.Name, f.Type, f.Anonymous, f.IsExported()) } } }", in...), in...)
	}
	return fill(fill("fmt.Printf(\"$v\\n\", "+value+")", in...), in...)
}
