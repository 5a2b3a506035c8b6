package enginetest

import "fmt"

// libraries draws calls of packages that call methods of the program's types.
func (g *grammar) libraries() string {
	t := g.plainType()
	in := []string{"$t", t.text, "$x", g.of(t, 1), "$y", g.of(t, 1), "$i", g.of(intType, 1), "$f", g.of(floatType, 1), "$s", g.of(stringType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	return fill(one(g,
		"{ type rec struct { A int `json:\"a\"`; B string `json:\"b,omitempty\"`; c int; D *rec `json:\"d,omitempty\"`; E []$t; F map[string]int `json:\"-\"` }; b, err := json.Marshal(rec{$i, $s, 3, &rec{}, nil, nil}); $p, string(b), err); var r rec; err = json.Unmarshal(b, &r); $p, r.A, r.B, r.D.A, r.c, err); err = json.Unmarshal([]byte(`{\"a\":\"x\"}`), &r); $p, err) }",
		`{ b, err := json.Marshal(map[string]any{"x": level($n), "y": []level{1, 2}, "z": &marked{$i}, "w": marked{3}, "t": text("s"), "n": nil}); $p, string(b), err); var l struct { X level; Y []level; Z *marked }; $p, json.Unmarshal(b, &l), l.X, l.Y, *l.Z) }`,
		`{ var v any; err := json.Unmarshal([]byte("{\"a\": [1, \"b\", null, {\"c\": true}], \"d\": 1.5}"), &v); m := v.(map[string]any); xs := m["a"].([]any); $p, len(xs), xs[1], xs[2] == nil, xs[3].(map[string]any)["c"], m["d"], err); b, _ := json.MarshalIndent(struct { Q $t; middle }{$x, middle{base{1}, "a"}}, "", " "); $p, string(b)) }`,
		`{ xs := byLen{"ccc", $s, "a", "bb"}; sort.Stable(xs); $p, xs, sort.IsSorted(xs), sort.SearchInts([]int{1, 3, 5}, $i)); sort.Sort(sort.Reverse(xs)); $p, len(xs[0]) >= len(xs[3])); ys := []pair[int, string]{{2, "b"}, {$i, "a"}, {2, "a"}}; sort.SliceStable(ys, func(i, j int) bool { return ys[i].a < ys[j].a }); $p, ys) }`,
		`{ h := &heaped{5, 2, $i}; heap.Init(h); heap.Push(h, 3); for h.Len() > $n { $p, heap.Pop(h)) } }`,
		`{ e := fmt.Errorf("outer: %w", failure{$i, coded{$n}}); var f failure; var c coded; var b *bad; $p, errors.As(e, &f), f.code, errors.As(e, &c), c, errors.As(e, &b), errors.Is(e, coded{1}), errors.Is(e, coded{9}), errors.Unwrap(e)) }`,
		`{ e := errors.Join(bad1, fmt.Errorf("%w and %w", failure{1, nil}, &bad{$i})); var b *bad; $p, errors.Is(e, bad1), errors.Is(e, failure{1, nil}), errors.As(e, &b), b, e); many := e.(interface{ Unwrap() []error }); $p, len(many.Unwrap())) }`,
		`{ r := io.TeeReader(&slow{s: "hello " + clip($s)}, &counting{}); b, err := io.ReadAll(r); $p, string(b), err); w := &counting{}; n, err := fmt.Fprintf(w, "%d-%v", $i, $x); $p, n == w.n, err); k, err := io.Copy(w, io.LimitReader(&slow{s: "abcdef"}, 4)); $p, k, err) }`,
		`{ s := bufio.NewScanner(&slow{s: "a b\nc\n" + clip($s)}); for s.Scan() { $p, s.Text()) }; $p, s.Err()); var b bytes.Buffer; b.WriteString($s); b.WriteByte('!'); x, err := b.ReadByte(); $p, x, err == nil, b.Len()) }`,
		`{ r := regexp.MustCompile("([a-z]+)([0-9]*)"); $p, r.ReplaceAllStringFunc("ab12 c"+clip($s), func(m string) string { return "<" + m + ">" }), r.FindStringSubmatch("x9"), r.MatchString($s), len(r.FindAllString("a1 b2", -1))) }`,
		"{ tm := template.Must(template.New(\"t\").Funcs(template.FuncMap{\"twice\": func(n int) int { return n * 2 }}).Parse(`{{range .}}{{.Name}}={{twice .Get}};{{end}}`)); var b strings.Builder; err := tm.Execute(&b, []middle{{base{$i}, \"s\"}, {}}); $p, b.String(), err) }",
		`{ d := time.Duration($i) * time.Second; u := time.Date(2024, time.February, 28+$n, 23, 59, 0, 0, time.UTC); $p, d, u.Add(time.Minute).Format(time.RFC3339), u.Weekday(), u.YearDay(), u.Sub(u.AddDate(0, 0, -1)), time.Month($n+1)) }`,
		`{ v := reflect.ValueOf(&pair[int, $t]{$i, $x}).Elem(); $p, v.NumField(), v.Type().Field(0).Name, v.Field(0).Int(), v.Type(), v.Addr().Type().NumMethod()); m := reflect.ValueOf(middle{base{$n}, "q"}).MethodByName("Name"); $p, m.Call(nil)[0], reflect.DeepEqual([]$t{$x}, []$t{$x}), reflect.DeepEqual(map[int]any{1: []int{$i}}, map[int]any{1: []int{$i}})) }`,
		`{ f := reflect.MakeFunc(reflect.TypeFor[func(int, ...string) string](), func(in []reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(fmt.Sprint(in[0].Int(), in[1].Len()))} }); g := f.Interface().(func(int, ...string) string); $p, g($n, "a", "b"), reflect.ValueOf(sum[int]).Call([]reflect.Value{reflect.ValueOf(2), reflect.ValueOf($n)})[0]) }`,
		`{ r := rand.New(rand.NewPCG(1, uint64($n))); $p, r.IntN(100), r.Perm(4), r.Float64() < 1) }`,
		`{ b := make([]byte, 8); binary.LittleEndian.PutUint32(b, uint32($i)); $p, b, binary.BigEndian.Uint16(b), hex.EncodeToString(b), base64.StdEncoding.EncodeToString([]byte($s))); h := fnv.New32a(); h.Write([]byte($s)); $p, h.Sum32(), crc32.ChecksumIEEE(b)); $p, fmt.Sprintf("%x", sha256.Sum256([]byte($s)))[:9]) }`,
		`{ x := new(big.Int).Exp(big.NewInt(3), big.NewInt(40+$n), nil); y, ok := new(big.Int).SetString("123456789012345678901234567890", 10); $p, x, ok, y.Mod(y, x).Cmp(x), x.BitLen()); r := big.NewRat(int64($n)+1, 6); $p, r.Add(r, big.NewRat(1, 3)), r.FloatString(3)) }`,
		`{ w := tabwriter.NewWriter(os.Stdout, 4, 0, 1, '.', 0); fmt.Fprintf(w, "a\tb\t%d\n", $i); fmt.Fprintln(w, "long\tx\ty"); w.Flush(); c := csv.NewReader(strings.NewReader("a,\"b,c\"\n1,2\n")); rs, err := c.ReadAll(); $p, rs, err) }`,
		`{ f := func(xs ...level) (r []string) { for _, x := range xs { r = append(r, x.String()) }; return }; $p, f(), f(1, level($n)), f([]level{2}...)); var s fmt.Stringer = level($n); switch s := s.(type) { case text: $p, "text", s.Len())
case level: $p, "level", int(s))
} }`,
		`{ u := unique.Make($s); v := unique.Make($s); $p, u == v, u.Value()); p := new(base); w := weak.Make(p); $p, w.Value() == p); runtime.KeepAlive(p) }`,
	), in...)
}
