package enginetest

import (
	"regexp"
	"strings"
	"sync"
)

// declarations are what the statements of programs may use. Methods come with
// their types.
var declarations = []string{
	`func clip(s string) string { if len(s) > 24 { return s[:24] }; return s }`,
	`func tr[T any](n int, x T) T { fmt.Println("tr", n, x); return x }`,
	`func pick[T any](c bool, a, b T) T { if c { return a }; return b }`,
	`func keys[K interface{ ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~string }, V any](m map[K]V) []K {
	var ks []K
	for k := range m { ks = append(ks, k) }
	sort.Slice(ks, func(i, j int) bool { return ks[i] < ks[j] })
	return ks
}`,
	`func each[T any](xs []T) func(func(int, T) bool) { return func(yield func(int, T) bool) { for i, x := range xs { if !yield(i, x) { return } } } }`,
	`func apply[T, U any](xs []T, f func(T) U) []U { var r []U; for _, x := range xs { r = append(r, f(x)) }; return r }`,
	`type pair[A, B any] struct { a A; b B }`,
	`func (p pair[A, B]) swap() pair[B, A] { return pair[B, A]{p.b, p.a} }`,
	`type stack[T any] struct { xs []T }`,
	`func (s *stack[T]) push(x T) { s.xs = append(s.xs, x) }`,
	`func (s *stack[T]) pop() (x T, ok bool) { if n := len(s.xs); n > 0 { x, s.xs, ok = s.xs[n-1], s.xs[:n-1], true }; return }`,
	`type failure struct { code int; why error }`,
	`func (f failure) Error() string { return fmt.Sprint("failure ", f.code) }`,
	`func (f failure) Unwrap() error { return f.why }`,
	`type bad struct { n int }`,
	`func (b *bad) Error() string { if b == nil { return "nil bad" }; return fmt.Sprint("bad ", b.n) }`,
	`type coded struct { n int }`,
	`func (c coded) Error() string { return fmt.Sprint("coded ", c.n) }`,
	`func (c coded) Is(target error) bool { return c.n == 1 && target == error(coded{9}) }`,
	`func (c coded) As(target any) bool { if b, ok := target.(**bad); ok && c.n > 1 { *b = &bad{c.n * 10}; return true }; return false }`,
	`var bad1 = errors.New("bad1")`,
	`type text string`,
	`func (t text) String() string { return "<" + string(t) + ">" }`,
	`func (t text) Len() int { return len(t) }`,
	`type level int`,
	`func (l level) String() string { switch l { case 0: return "zero"; case 1: return "one"; case 2: return "two" }; return "level " + strconv.Itoa(int(l)) }`,
	`func (l level) less(m level) bool { return l < m }`,
	`func (l level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }`,
	`func (l *level) UnmarshalText(b []byte) error { for k := range level(9) { if k.String() == string(b) { *l = k; return nil } }; *l = -1; return nil }`,
	`func (l *level) set(n int) { *l = level(n) }`,
	`type base struct { n int }`,
	`func (b base) Get() int { return b.n }`,
	`func (b *base) Add(k int) *base { b.n += k; return b }`,
	`func (b base) Name() string { return fmt.Sprint("base", b.n) }`,
	`func (b *base) set(n int) { b.n = n }`,
	`type middle struct { base; s string }`,
	`func (m middle) Name() string { return "middle " + m.base.Name() + m.s }`,
	`type outer struct { *middle; fmt.Stringer; k int }`,
	`type getter interface { Get() int }`,
	`type namer interface { Name() string }`,
	`type adder interface { getter; Add(int) *base }`,
	`type down struct { sort.Interface }`,
	`func (d down) Less(i, j int) bool { return d.Interface.Less(j, i) }`,
	`type byLen []string`,
	`func (b byLen) Len() int { return len(b) }`,
	`func (b byLen) Less(i, j int) bool { return len(b[i]) < len(b[j]) }`,
	`func (b byLen) Swap(i, j int) { b[i], b[j] = b[j], b[i] }`,
	`type heaped []int`,
	`func (h heaped) Len() int { return len(h) }`,
	`func (h heaped) Less(i, j int) bool { return h[i] < h[j] }`,
	`func (h heaped) Swap(i, j int) { h[i], h[j] = h[j], h[i] }`,
	`func (h *heaped) Push(x any) { *h = append(*h, x.(int)) }`,
	`func (h *heaped) Pop() any { old := *h; x := old[len(old)-1]; *h = old[:len(old)-1]; return x }`,
	`type marked struct { n int }`,
	`func (m marked) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "\"m%d\"", m.n), nil }`,
	`func (m *marked) UnmarshalJSON(b []byte) error { _, err := fmt.Sscanf(string(b), "\"m%d\"", &m.n); return err }`,
	`type slow struct { s string }`,
	`func (r *slow) Read(p []byte) (int, error) { if r.s == "" { return 0, io.EOF }; n := copy(p[:min(len(p), 3)], r.s); r.s = r.s[n:]; return n, nil }`,
	`type counting struct { n int }`,
	`func (c *counting) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }`,
	`type fmtr struct { n int }`,
	`func (f fmtr) Format(s fmt.State, verb rune) { w, has := s.Width(); fmt.Fprintf(s, "fmtr(%c %d %d %t %t)", verb, f.n, w, has, s.Flag('+')) }`,
	`type gost struct { n int }`,
	`func (g gost) GoString() string { return fmt.Sprintf("gost<%d>", g.n) }`,
	`type panics struct{}`,
	`func (panics) String() string { panic("in String") }`,
	`type set[K comparable] map[K]struct{}`,
	`func (s set[K]) add(k K) { s[k] = struct{}{} }`,
	`func (s set[K]) has(k K) bool { _, ok := s[k]; return ok }`,
	`type node[T any] struct { v T; next *node[T] }`,
	`type list[T any] struct { head *node[T]; n int }`,
	`func (l *list[T]) push(v T) *list[T] { l.head = &node[T]{v, l.head}; l.n++; return l }`,
	`func (l *list[T]) all() iter.Seq[T] { return func(yield func(T) bool) { for n := l.head; n != nil; n = n.next { if !yield(n.v) { return } } } }`,
	`type tree[K cmp.Ordered, V any] struct { l, r *tree[K, V]; k K; v V }`,
	`func (t *tree[K, V]) put(k K, v V) *tree[K, V] { if t == nil { return &tree[K, V]{k: k, v: v} }; switch c := cmp.Compare(k, t.k); { case c < 0: t.l = t.l.put(k, v); case c > 0: t.r = t.r.put(k, v); default: t.v = v }; return t }`,
	`func (t *tree[K, V]) all() iter.Seq2[K, V] { return func(yield func(K, V) bool) { t.walk(yield) } }`,
	`func (t *tree[K, V]) walk(yield func(K, V) bool) bool { return t == nil || t.l.walk(yield) && yield(t.k, t.v) && t.r.walk(yield) }`,
	`type number interface { ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 }`,
	`func sum[T number](xs ...T) (s T) { for _, x := range xs { s += x }; return }`,
	`func convert[T, U number](x T) U { return U(x) }`,
	`func zero[T any]() (z T) { return }`,
	`func same[T comparable](a, b T) bool { return a == b }`,
	`func first[S ~[]E, E any](s S) (e E) { if len(s) > 0 { e = s[0] }; return }`,
	`func size[M ~map[K]V, K comparable, V any](m M) (n int) { for range m { n++ }; return }`,
	`func total[S ~string | ~[]byte](s S) (n int) { for i := range len(s) { n = n*3 + int(s[i]) }; return }`,
	`func through[F ~func(A) R, A, R any](f F, a A) R { return f(a) }`,
	`func send[C ~chan T, T any](c C, x T) { c <- x }`,
	`func counter[T any]() func(T) int { n := 0; return func(T) int { n++; return n } }`,
	`func kindOf[T any](x T) string { switch any(x).(type) { case nil: return "nil"; case int: return "int"; case []T: return "slice"; case fmt.Stringer: return "stringer"; case error: return "error"; case func(T): return "func" }; return "other" }`,
	`func least[T interface { less(T) bool }](a, b T) T { if b.less(a) { return b }; return a }`,
	`func made[T any, P interface { *T; set(int) }](n int) *T { var x T; P(&x).set(n); return &x }`,
	`type twins[T any] = pair[T, T]`,
	`type extended[T any] struct { list[T]; extra T }`,
}

var declares = regexp.MustCompile(`^(?:func|type|var) (?:\(\w* ?\*?(\w+)[^)]*\) )?(\w+)`)

// names are those that declarations declare, methods' receivers in their place;
// uses, for each, are the words that its text has.
var names, words = sync.OnceValues(func() ([]string, []map[string]bool) {
	var names []string
	var uses []map[string]bool
	for _, d := range declarations {
		m := declares.FindStringSubmatch(d)
		name := m[1]
		if name == "" {
			name = m[2]
		}
		names, uses = append(names, name), append(uses, wordsOf(d))
	}
	return names, uses
})()

var word = regexp.MustCompile(`\w+`)

func wordsOf(text string) map[string]bool {
	r := map[string]bool{}
	for _, w := range word.FindAllString(text, -1) {
		r[w] = true
	}
	return r
}

// libraryOf returns the declarations that text needs.
func libraryOf(text string) string {
	need := wordsOf(text)
	in := make([]bool, len(declarations))
	for more := true; more; {
		more = false
		for i, name := range names {
			if !in[i] && need[name] {
				in[i], more = true, true
				for w := range words[i] {
					need[w] = true
				}
			}
		}
	}
	var r []string
	for i, d := range declarations {
		if in[i] {
			r = append(r, d)
		}
	}
	return strings.Join(r, "\n")
}

// library is all declarations.
func library() string { return strings.Join(declarations, "\n") }
