package yaegi

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// load compiles a program. After an error the interpreter's names mean what
// they meant before.
func (e *Engine) load(p *program) error {
	for _, path := range p.imports() {
		if err := e.use(path); err != nil {
			return err
		}
	}
	e.file++
	name := "cell" + strconv.Itoa(e.file) + ".go"
	f, err := parser.ParseFile(e.i.FileSet(), name, p.text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("yaegi: lowered text does not parse: %w", err)
	}
	file := e.i.FileSet().File(f.FileStart)
	changed := append(append([]string(nil), p.removes...), p.declare...)
	for _, r := range p.renames {
		changed = append(changed, r[0], r[1])
	}
	before := e.reach.save(changed)
	var old []unsafe.Pointer
	for _, n := range p.patches {
		old = append(old, e.reach.funcNode(n.current))
	}
	for _, r := range p.renames {
		e.reach.rename(r[0], r[1])
	}
	for _, n := range p.removes {
		e.reach.remove(n)
	}
	defer e.reach.forgetFile(name, p.draftImports)
	e.types.add(p.types)
	prog, err := e.reach.compile(f)
	if err == nil {
		e.tracer.install(e.reach, e.reach.root(prog), file, p)
		err = e.execute(prog)
	}
	if err != nil {
		e.reach.restore(before)
		return p.explain(err, name)
	}
	for i, n := range p.patches {
		latest := e.reach.funcNode(n.current)
		e.reach.become(old[i], latest)
		n.nodes = append(n.nodes, old[i])
		for _, earlier := range n.nodes {
			e.reach.become(earlier, latest)
		}
	}
	for _, r := range p.replaced {
		latest := e.reach.funcNode(r[1].current)
		r[1].nodes = append(r[0].nodes, e.reach.funcNode(r[0].current))
		for _, earlier := range r[1].nodes {
			e.reach.become(earlier, latest)
		}
	}
	p.commit()
	return nil
}

// use gives the interpreter the table of a package, and those of the packages
// that it imports: they hold the wrappers for interface types in its API.
func (e *Engine) use(path string) error {
	if e.used[path] {
		return nil
	}
	t := e.opts.Symbols.Table(path)
	if t == nil {
		return &unsupported{msg: "package " + strconv.Quote(path) + " has no compiled functions here"}
	}
	tables := interp.Exports{path + "/_": t}
	if pkg, err := e.opts.Importer.Import(path); err == nil {
		for _, q := range pkg.Imports() {
			if t := e.opts.Symbols.Table(q.Path()); t != nil && !e.used[q.Path()] && !e.tables[q.Path()] {
				tables[q.Path()+"/_"] = t
				e.tables[q.Path()] = true
			}
		}
	}
	e.used[path], e.tables[path] = true, true
	return e.i.Use(tables)
}

func (e *Engine) execute(p *interp.Program) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	_, err = e.i.Execute(p)
	return err
}

// packaged are names of things of modules.
var packaged = regexp.MustCompile(`([\pL_][\pL\pN_]*)` + ofPackage + `(\w+?)__`)

// explain turns an error of yaegi's compiler into one about the cell.
func (p *program) explain(err error, file string) error {
	msg := err.Error()
	u := &unsupported{msg: cleanNames(msg)}
	if rest, ok := strings.CutPrefix(msg, file+":"); ok {
		var line, col int
		if n, _ := fmt.Sscanf(rest, "%d:%d:", &line, &col); n == 2 {
			u.msg = cleanNames(strings.TrimSpace(rest[strings.Index(rest, " ")+1:]))
			if q := p.placed(offset(p.text, line, col)); q != nil {
				u.decl = q.decl
			}
			if sp := p.spot(offset(p.text, line, col)); sp != nil {
				at := sp.frame()
				u.pos = token.Position{Filename: at.File, Line: at.Line, Column: at.Col}
				if at.File == "" {
					u.pos.Filename = "In[" + strconv.Itoa(at.Cell) + "]"
				}
			}
		}
	}
	if p.doubt != nil && u.decl == nil {
		return p.doubt
	}
	u.msg = "the interpreter says: " + u.msg
	return u
}

func offset(text string, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at + col - 1
}

// cleanNames takes the names that lowering made out of a message.
func cleanNames(s string) string {
	s = packaged.ReplaceAllString(s, "$2.$1")
	var b strings.Builder
	for {
		i := strings.Index(s, "__")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+2:]
		s = strings.TrimLeft(s, "0123456789")
	}
}
