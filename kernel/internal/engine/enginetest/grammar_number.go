package enginetest

import "fmt"

// numbers draws arithmetic at the ends of types, and conversions.
func (g *grammar) numbers() string {
	ints := []*typ{intType, byteType, basicTypes[6], basicTypes[7], basicTypes[5], basicTypes[8], basicTypes[9], basicTypes[10], basicTypes[11], basicTypes[12]}
	t, u := one(g, ints...), one(g, ints...)
	in := []string{"$t", t.text, "$u", u.text, "$x", g.fixedNot(t), "$y", g.fixedNot(u), "$f", g.fixedNot(floatType), "$h", g.of(basicTypes[13], 1), "$i", g.fixedNot(intType), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	s := one(g,
		`{ var zero $t; lo := ^zero; if lo > 0 { lo = 0 } else { lo = $t(pick(true, 1, 0)) << ($b - 1) }; x := $x; $p, lo-1, lo, -lo, lo/pick(true, ^zero, 1), lo%pick(true, ^zero, 1), x*lo, (lo-1)*(lo-1), lo-1+x) }`,
		`{ x, y := $x, $y; $p, $u(x), $t(y), $t($u(x)), float64(x), float32(y), uint8(x)+uint8(y), int8(x)-int8(y), int16(y)*int16(x)) }`,
		`{ x := $x; for _, k := range []uint{0, 1, 7, 8, 31, 32, 63, 64, 65, 1 << 20} { $p, x<<k, x>>k, ^x>>k, -x<<k>>k) } }`,
		`{ x := $x; s := $u(pick(true, 9, 1)); x <<= s; y := x; y >>= s; z := 1 << s; var w int64 = 1 << s; $p, x, y, z, w, uint8(1)<<s, 1.0<<s == z, int32(-1)>>s) }`,
		`func() { defer func() { $p, recover()) }(); k := $n - 1; $p, uint8(200)<<k, $x>>k); k = -1 - $n; $p, 1<<k) }()`,
		`{ f := $f; g := []float64{f, -f, f * 1e300 * 1e300, 0, 1e15 + 0.5, 1.99999}; for _, v := range g { if v > -1e9 && v < 1e9 { $p, int(v), int8(int(v)), uint32(int64(v)), math.Trunc(v), int64(float32(v))) } else { $p, v) } } }`,
		`{ f, h := $f, $h; z := pick(true, 0.0, 1); $p, f/z, -f/z, z/z == z/z, float32(f)*h, h/3, float64(h)/3, f+0.1, float32(0.1)+h, math.Sqrt(f), -z, 1/(-1*z), math.Inf(1) > f) }`,
		`{ a, b := complex(float64($h), $f), pick(true, 1-2i, 1); c := a * b; $p, real(c) == real(c), imag(b), b*b/complex(0, 1), b == 1-2i, -b, b*complex(2, $n), cmplx.Abs(3+4i)); var d complex64 = complex(1, float32($n)); d *= d; d += 1i; $p, d, real(d), complex128(d) != b, []complex64{d}[0] == d) }`,
		`{ x, f, s := $x, $f, "b"; $p, min(x, 3), max(x, 7, 5), min(f, 2, -1.5), max("a", s, "ab"), min(math.NaN(), f) != f, max(-0.0, 0), min(3, 2.5)) }`,
		`{ const big = 1 << 100; const q = big / 3 % 1000; var x $t = q % 100; y := x + big>>98; const f = 1.0 / 3; var h float32 = f; $p, x, y, q, f, h, 'a'+1, "s"[0]-'a', 5/2, 5/2.0, 1/3*3.0, -7/2, -7%3, 7&^5) }`,
		`{ const ( a $t = iota + 1; b; c = "s"; d; e = iota * 10; _; f ); type day uint8; const ( mon day = 1 << iota; tue; wed ); $p, a, b, c, d, e, f, mon|wed, tue, ^mon, len(d)) }`,
		`func() { defer func() { r := recover(); _, is := r.(runtime.Error); $p, r, is) }(); d := $t(pick($n > 1, 1, 0)); $p, $x/(d+1)); $p, $x%d, $x/d) }()`,
		`{ x := $x; x++; x += 3; x -= 2; x *= 5; x /= 3; x %= 100; x |= 9; x &= 0x7b; x ^= 0x11; x &^= 2; y := -x; y--; $p, x, y, +x, ^x, !(x < y), x == y) }`,
		`{ $p, bits.OnesCount64(uint64($y)), bits.Len32(uint32($x)), bits.Reverse8(uint8($x)), bits.RotateLeft16(uint16($y), 3), bits.TrailingZeros(uint($i)|8)); hi, lo := bits.Mul64(uint64($x), uint64($y)); $p, hi, lo) }`,
		`{ n, err := strconv.ParseInt(fmt.Sprint($x), 10, 64); $p, n, err); _, err = strconv.Atoi("x" + fmt.Sprint($y)); $p, err, strconv.FormatInt(int64(int32($y)), 36), strconv.Quote(string(rune(uint16($x)))), strconv.FormatFloat($f, 'e', 3, 64)); _, err = strconv.ParseInt("999", 0, 8); $p, errors.Is(err, strconv.ErrRange)) }`,
		`{ h := uint32(2166136261); for _, c := range []byte("hash" + fmt.Sprint($x)) { h ^= uint32(c); h *= 16777619 }; r := uint64($y)*6364136223846793005 + 1442695040888963407; r ^= r >> 33; $p, h, r, int32(h), int16(r), uint8(r>>56)) }`,
		`{ var i8 int8 = 127; var u8 uint8; var i16 int16 = -32768; i8++; u8--; i16--; var u uint = 0; u--; i := math.MaxInt; i += $n + 1; m := math.MinInt64; $p, i8, u8, i16, u, i, -m == m, m/-1 == m, uint16(i16)+1) }`,
	)
	return fill(s, append(in, "$b", fmt.Sprint(t.bits))...)
}

// texts draws conversions between strings, bytes and runes, and what counts,
// cuts and compares strings.
func (g *grammar) texts() string {
	in := []string{"$s", g.of(stringType, 1), "$u", g.of(stringType, 1), "$i", g.of(intType, 1), "$n", fmt.Sprint(g.between(0, 3)), "$p", g.line()}
	return fill(one(g,
		`{ s := $s + "é世\xff\xe4x"; b, r := []byte(s), []rune(s); b[0] = 'B'; $p, len(s), len(r), len(b), string(b) == s, r, string(r) == s, utf8.ValidString(s), utf8.RuneCountInString(s)); for i, c := range s { $p, i, c, string(c), s[i]) } }`,
		`{ type str string; type bs []byte; type rs []rune; type b byte; s := str($s); x := bs(s); y := rs(s); z := []b(s); x = append(x, s...); x = append(x, "lit"...); $p, len(x), string(x), str(y), string(z), s+"x" > "h", string(bs(nil)) == "") }`,
		`{ $p, string(rune($i)), string(rune(-1)), string(rune(0x10ffff+$n)), string([]rune{'a', -1, 0xd800, 'é'}), []byte(string(rune(0x20ac))), "\u00e9" == "é", '\x61', "a\x00b"[1]) }`,
		`{ a, b := $s, $u; $p, a < b, a <= b, a == b, a+b > b+a, strings.Compare(a, b), a != "", (a + b)[len(a):] == b) }`,
		`{ var b strings.Builder; for i := range 3 { fmt.Fprintf(&b, "%d%s,", i, clip($s)) }; b.WriteByte('x'); b.WriteRune('é'); $p, b.Len(), b.String(), strings.Split(b.String(), ","), strings.Fields(" a  b c ")) }`,
		`{ s := "héllo" + $s; n := 0; for range s { n++ }; for i := range s { n += i }; for i := 0; i < len(s); i++ { n += int(s[i]) }; m := map[byte]int{}; for _, c := range []byte(s) { m[c]++ }; $p, n, len(m), s[1:3], s[:0], s[len(s):] == "") }`,
		`{ f := func(r rune) rune { if r == 'l' { return -1 }; return r + 1 }; $p, strings.Map(f, "hello"), strings.IndexFunc($s, unicode.IsSpace), strings.TrimFunc("xxaxx", func(r rune) bool { return r == 'x' }), strings.FieldsFunc("a1b2c", unicode.IsDigit), strings.ToTitle("éa")) }`,
		`{ r := strings.NewReplacer("a", "1", "b", "2"); s, t, ok := strings.Cut("k=" + $s, "="); $p, r.Replace("abc"+clip($s)), s, t, ok, strings.EqualFold("Go", "GO"), strings.Count("cheese", "e"), strings.LastIndex($s, "a"), strings.TrimLeft("xxa", "x"), strings.SplitN("a,b,c", ",", 2)) }`,
		`{ for l := range strings.Lines("a\nb\n" + clip($s)) { $p, l) }; for w := range strings.SplitSeq("x-y", "-") { $p, w) } }`,
		`{ b := []byte("hello"); c := b[:2]; c = append(c, 'X'); s := string(b); b[0] = 'J'; $p, s, string(b), string(c), bytes.Equal(b, []byte(s)), bytes.Contains(b, []byte("lo")), bytes.ToUpper(c)); t := s; s += "!"; $p, t, s) }`,
		"{ s := `raw\\n` + \"\\t\\\"\" + `\"`; $p, s, len(s), strconv.Quote(s), fmt.Sprintf(\"%q %x %X % x %+q\", $s, $s, \"hi\", \"hi\", \"é\")) }",
		`{ sc := bufio.NewScanner(strings.NewReader("one two\nthree " + clip($s))); sc.Split(bufio.ScanWords); n := 0; for sc.Scan() { n++; $p, sc.Text()) }; var a, b int; k, err := fmt.Sscanf("3-4", "%d-%d", &a, &b); $p, n, a*b, k, err) }`,
		`{ s := "abc"; i := $n; func() { defer func() { $p, recover()) }(); $p, s[i]); $p, s[i:], s[i+1:]) }() }`,
	), in...)
}

// fixedNot draws an expression that is no constant: one would not be converted
// where it overflows.
func (g *grammar) fixedNot(t *typ) string {
	e := g.of(t, 1)
	return "pick(true, " + e + ", " + e + ")"
}
