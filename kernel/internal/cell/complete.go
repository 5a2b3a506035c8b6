package cell

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Completion is what may stand at a cursor. Start and End are the part of the
// source, in runes, that a match replaces; End is the cursor.
type Completion struct {
	Start, End int
	Matches    []Match // never nil
}

// Match is one completion.
type Match struct {
	Text string
	// Kind is "function", "class" (a type), "instance" (a variable or a
	// constant), "property" (a field), "module" (a package) or "keyword":
	// what Jupyter clients draw icons for.
	Kind   string
	Detail string // its type as Go source, a package's path, or empty
}

// cursorCell is the execution count of a cell that is not run.
const cursorCell = 1 << 30

// maxChecked is how long a source may be, in bytes, to be checked for what
// stands at the cursor: an answer must come while the user types. In a longer
// one only the names of cells complete.
const maxChecked = 100_000

// cursorName stands in the checked text where the cursor is.
const cursorName = "cell__cursor"

// Complete lists what may stand at the cursor, counted in runes, in a source
// that need not be complete. Inside strings, comments and numbers that is
// nothing.
func (s *Scope) Complete(source string, cursor int) Completion {
	off := byteOffset(source, cursor)
	cursor = utf8.RuneCountInString(source[:off])
	start := wordStart(source, off)
	word := source[start:off]
	c := Completion{Start: cursor - utf8.RuneCountInString(word), End: cursor, Matches: []Match{}}
	member, ok := context(source, start, off)
	if !ok {
		return c
	}
	k, id, path := s.newCheck(cursorCell), (*ast.Ident)(nil), []ast.Node(nil)
	if len(source) <= maxChecked {
		k, id, path = s.checkAt(source, start, off)
	}
	m := &matcher{check: k, word: word, seen: map[string]bool{}}
	if member {
		m.members(path)
	} else {
		if id != nil {
			m.fieldKeys(path)
			m.locals(id.Pos())
		}
		m.packageNames()
		m.universe()
	}
	c.Matches = m.best()
	return c
}

// byteOffset returns the offset of the n-th rune, inside the source whatever
// n is.
func byteOffset(source string, n int) int {
	for i := range source {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(source)
}

// wordStart returns where the identifier that ends at off begins.
func wordStart(source string, off int) int {
	for off > 0 {
		r, n := utf8.DecodeLastRuneInString(source[:off])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		off -= n
	}
	return off
}

// context looks at the tokens before the word from start to off: member is
// set after a period, ok unset where no name can stand.
func context(source string, start, off int) (member, ok bool) {
	s := splitCell(source[:off])
	if len(s.toks) == 0 && len(s.diags) > 0 && !s.diags[0].Incomplete {
		return false, false // a magic
	}
	// What the prefix does not close is open at the cursor, whatever follows.
	for _, d := range s.diags {
		if strings.HasSuffix(d.Msg, "not terminated") {
			return false, false
		}
	}
	for _, c := range s.comments {
		if c.off < off && off <= c.end && (source[c.off+1] == '/' || off < c.end) {
			return false, false
		}
	}
	for i, t := range slices.Backward(s.toks) {
		switch {
		case t.off >= start:
		case t.end > start && t.tok != token.SEMICOLON:
			return false, false // 12ab, 0x1f
		case t.tok == token.SEMICOLON && t.off == t.end:
			// inserted by the end of a line
			return false, true
		case (t.tok == token.INT || t.tok == token.FLOAT) && t.end == start:
			return false, false
		default:
			return t.tok == token.PERIOD && s.at(i-1) != token.EOF, true
		}
	}
	return false, true
}

// checkAt checks the source with a name of ours in place of the word from
// start to off, and returns what was found out about it: the identifier and
// the syntax around it, innermost first, or nil.
func (s *Scope) checkAt(source string, start, off int) (*check, *ast.Ident, []ast.Node) {
	end := off
	for end < len(source) {
		r, n := utf8.DecodeRuneInString(source[end:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		end += n
	}
	var k *check
	// The whole cell tells most; where it is too broken, what is before the
	// cursor, with its brackets closed; then without statements that are
	// wrong in themselves, at which the parser would skip the rest.
	for _, text := range []string{
		source[:start] + cursorName + source[end:],
		repair(source[:start] + cursorName),
		blank(repair(source[:start] + cursorName)),
	} {
		k = s.checkLoosely(text)
		if k.cell == nil || k.cell.File == nil {
			continue
		}
		if path := pathTo(k.cell.File, cursorName); path != nil {
			return k, path[0].(*ast.Ident), path
		}
	}
	return k, nil, nil
}

// checkLoosely checks as far as the text allows.
func (s *Scope) checkLoosely(text string) *check {
	k := s.newCheck(cursorCell)
	sp := splitCell(text)
	k.plan = &plan{split: sp}
	if len(sp.diags) > 0 {
		return k
	}
	k.plan = planCell(sp, cursorCell, k.lives)
	k.loose = true
	k.cell = k.rounds()
	defer k.forget()
	return k
}

// repair closes what the text leaves open, so that it is a cell.
func repair(text string) string {
	s := splitCell(text)
	// headers[d] is set while the statement at depth d still lacks its block.
	headers := []bool{false}
	var closing []string
	for _, t := range s.toks {
		d := len(closing)
		switch t.tok {
		case token.IF, token.FOR, token.SWITCH, token.SELECT:
			headers[d] = true
		case token.SEMICOLON:
			if t.off == t.end || !headers[d] {
				headers[d] = false
			}
		case token.LBRACE:
			headers[d] = false
			fallthrough
		case token.LPAREN, token.LBRACK:
			closing = append(closing, closers[t.tok].String())
			headers = append(headers, false)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if d == 0 {
				return text
			}
			closing, headers = closing[:d-1], headers[:d]
		}
	}
	var b strings.Builder
	b.WriteString(text)
	for d := len(closing); d >= 0; d-- {
		if headers[d] {
			b.WriteString(" {}")
		}
		if d > 0 {
			b.WriteString(closing[d-1])
		}
	}
	return b.String()
}

// blank overwrites the statements that do not parse, but for that of the
// cursor, with spaces.
func blank(text string) string {
	s := splitCell(text)
	b := []byte(text)
	for _, c := range s.chunks {
		src := s.text(c.first, c.last)
		if c.kind != stmtChunk || strings.Contains(src, cursorName) {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p;func _(){"+src+"\n}", parser.SkipObjectResolution); err != nil {
			for i := s.toks[c.first].off; i < s.toks[c.last].end; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
		}
	}
	return string(b)
}

// pathTo returns the identifier of the given name and the nodes around it,
// innermost first; nil if there is none.
func pathTo(f *ast.File, name string) []ast.Node {
	var stack, path []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		if path != nil {
			return false
		}
		stack = append(stack, n)
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			path = slices.Clone(stack)
			slices.Reverse(path)
		}
		return true
	})
	return path
}

// A matcher collects the names that begin with a word. Names collected first
// hide later ones.
type matcher struct {
	*check
	word  string
	seen  map[string]bool
	exact []Match
	loose []Match // differ from word in case
}

func (m *matcher) add(name, kind, detail string) {
	if m.seen[name] || name == "_" || name == cursorName || strings.HasPrefix(name, "cell__") {
		return
	}
	m.seen[name] = true
	switch {
	case strings.HasPrefix(name, m.word):
		m.exact = append(m.exact, Match{name, kind, detail})
	case len(name) >= len(m.word) && strings.EqualFold(name[:len(m.word)], m.word):
		m.loose = append(m.loose, Match{name, kind, detail})
	}
}

func (m *matcher) object(o types.Object) { m.add(o.Name(), clientKind(o), typeText(o)) }

// clientKind is the Match.Kind of an object.
func clientKind(o types.Object) string {
	switch o := o.(type) {
	case *types.Var:
		if o.IsField() {
			return "property"
		}
		return "instance"
	case *types.Func, *types.Builtin:
		return "function"
	case *types.TypeName:
		return "class"
	case *types.PkgName:
		return "module"
	}
	return "instance"
}

// best returns the matches in alphabetical order; those of another case only
// if there are no others.
func (m *matcher) best() []Match {
	list := m.exact
	if len(list) == 0 {
		list = m.loose
	}
	if list == nil {
		return []Match{}
	}
	slices.SortFunc(list, func(a, b Match) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text)), strings.Compare(a.Text, b.Text))
	})
	return list
}

// members adds what may follow the period before the cursor.
func (m *matcher) members(path []ast.Node) {
	if len(path) < 2 {
		return
	}
	sel, ok := path[1].(*ast.SelectorExpr)
	if !ok {
		return
	}
	info := m.cell.Info
	if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
		if p, ok := info.Uses[id].(*types.PkgName); ok {
			scope := p.Imported().Scope()
			for _, name := range scope.Names() {
				if token.IsExported(name) {
					m.object(scope.Lookup(name))
				}
			}
			return
		}
	}
	tv, ok := info.Types[sel.X]
	if !ok || tv.Type == nil || tv.Type == types.Typ[types.Invalid] {
		return
	}
	for _, o := range membersOf(tv.Type, tv.IsType(), m.cell.Pkg) {
		m.object(o)
	}
}

// membersOf lists the fields and methods that a selector in pkg may choose
// from t; of a type, methods only.
func membersOf(t types.Type, isType bool, pkg *types.Package) []types.Object {
	var list []types.Object
	seen := map[string]bool{}
	add := func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		o, _, _ := types.LookupFieldOrMethod(t, true, pkg, name)
		if v, ok := o.(*types.Var); o == nil || ok && isType && v.IsField() {
			return
		}
		list = append(list, o)
	}
	visited := map[types.Type]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		if visited[t] {
			return
		}
		visited[t] = true
		recv := t
		if !types.IsInterface(t) {
			recv = types.NewPointer(t)
		}
		for sel := range types.NewMethodSet(recv).Methods() {
			add(sel.Obj().Name())
		}
		if st, ok := t.Underlying().(*types.Struct); ok {
			for f := range st.Fields() {
				add(f.Name())
				if f.Embedded() {
					walk(f.Type())
				}
			}
		}
	}
	walk(t)
	return list
}

// fieldKeys adds the fields of a struct literal whose key the cursor is at.
func (m *matcher) fieldKeys(path []ast.Node) {
	if len(path) < 3 {
		return
	}
	lit, ok := path[1].(*ast.CompositeLit)
	if kv, isKey := path[1].(*ast.KeyValueExpr); isKey && kv.Key == path[0] {
		lit, ok = path[2].(*ast.CompositeLit)
	}
	if !ok || lit.Type == path[0] {
		return
	}
	if st := structOf(m.cell.Info.Types[lit].Type); st != nil {
		for f := range st.Fields() {
			if f.Exported() || f.Pkg().Path() == "main" {
				m.object(f)
			}
		}
	}
}

// locals adds the names of the functions and blocks around pos.
func (m *matcher) locals(pos token.Pos) {
	pkg := m.cell.Pkg.Scope()
	for s := pkg.Innermost(pos); s != nil && s != pkg; s = s.Parent() {
		for _, name := range s.Names() {
			if o := s.Lookup(name); o.Pos() < pos {
				m.object(o)
			}
		}
	}
}

// packageNames adds the names that cells declare and the packages they may use.
func (m *matcher) packageNames() {
	if m.cell != nil && m.cell.Pkg != nil {
		scope := m.cell.Pkg.Scope()
		for _, name := range scope.Names() {
			m.object(scope.Lookup(name))
		}
	}
	for _, e := range m.live.names {
		m.object(e.obj)
	}
	for name, path := range m.live.imports {
		m.add(name, "module", path)
	}
	for name, path := range m.prelude.Imports {
		m.add(name, "module", path)
	}
}

// universe adds what Go predeclares, and its keywords.
func (m *matcher) universe() {
	for _, name := range types.Universe.Names() {
		m.object(types.Universe.Lookup(name))
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		m.add(t.String(), "keyword", "")
	}
}
