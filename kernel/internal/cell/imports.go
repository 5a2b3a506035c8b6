package cell

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// An importSpec is one import that a cell names.
type importSpec struct {
	name string // "" where the package's own name is meant
	path string
	off  int // of the name, or of the path
	end  int
}

// imports lists what the import chunks name, each once.
func (s *split) imports() []importSpec {
	var list []importSpec
	seen := map[string]bool{}
	for _, c := range s.chunks {
		if c.kind != importChunk {
			continue
		}
		const head = "package p;"
		fset := token.NewFileSet()
		text := s.text(c.first, c.last)
		f, err := parser.ParseFile(fset, "", head+text, parser.ImportsOnly|parser.SkipObjectResolution)
		start := s.toks[c.first].off - len(head)
		if list, ok := err.(scanner.ErrorList); ok {
			s.failSyntax(max(start+list[0].Pos.Offset, s.toks[c.first].off), list[0].Msg)
		}
		if f == nil {
			continue
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has said so
			}
			is := importSpec{path: path, off: start + fset.PositionFor(spec.Pos(), false).Offset, end: start + fset.PositionFor(spec.End(), false).Offset}
			if spec.Name != nil {
				is.name = spec.Name.Name
			}
			if key := is.name + " " + path; !seen[key] {
				seen[key] = true
				list = append(list, is)
			}
		}
	}
	return list
}

// resolveImports collects the imports of the file: the cell's own, those of
// earlier cells that it uses, those of the prelude that it uses.
func (k *check) resolveImports() {
	k.alias, k.named = map[string]string{}, map[string]string{}
	have := map[string]bool{}
	for _, im := range k.plan.imps {
		switch name := im.name; name {
		case "_":
		case ".":
			k.dots = append(k.dots, im.path)
		case "":
			if pkg, err := k.imp.Import(im.path); err == nil {
				name = pkg.Name()
			} else {
				name = im.path[strings.LastIndexByte(im.path, '/')+1:]
			}
			fallthrough
		default:
			k.named[name] = im.path
			have[name] = true
			if k.hoisted[name] != nil {
				k.alias[name] = "cell__" + name
				im.name = k.alias[name]
			}
		}
		k.imps = append(k.imps, im)
	}
	for i, t := range k.toks {
		if t.tok != token.IDENT || k.at(i+1) != token.PERIOD || k.at(i-1) == token.PERIOD {
			continue
		}
		name := k.name(i)
		if have[name] || k.declared[name] && k.hoisted[name] == nil || k.live.names[name] != nil {
			continue
		}
		path, ok := k.live.imports[name]
		if !ok {
			path, ok = k.implied(name)
		}
		if !ok {
			continue
		}
		have[name] = true
		if _, err := k.imp.Import(path); err != nil {
			continue // then the name is undefined
		}
		im := importSpec{name: name, path: path}
		if k.hoisted[name] != nil {
			k.alias[name] = "cell__" + name
			im.name = k.alias[name]
		}
		k.imps = append(k.imps, im)
	}
	for _, path := range k.live.dots {
		if !slices.Contains(k.dots, path) && !k.hides(path) {
			k.imps = append(k.imps, importSpec{name: ".", path: path})
		}
	}
}

// implied finds the package that name means in the cell without an import: the
// first that has all members that the cell uses.
func (k *check) implied(name string) (path string, ok bool) {
	first, ok := k.prelude.Imports[name]
	if !ok || len(k.prelude.Others[name]) == 0 {
		return first, ok
	}
	var members []string
	for i, t := range k.toks {
		if t.tok == token.IDENT && k.name(i) == name && k.at(i+1) == token.PERIOD && k.at(i-1) != token.PERIOD && k.at(i+2) == token.IDENT {
			members = append(members, k.name(i+2))
		}
	}
	for _, path := range append([]string{first}, k.prelude.Others[name]...) {
		pkg, err := k.imp.Import(path)
		if err == nil && !slices.ContainsFunc(members, func(m string) bool { return !token.IsExported(m) || pkg.Scope().Lookup(m) == nil }) {
			return path, true
		}
	}
	return first, true
}

// hides reports whether a name of the cell is one of the package's and means
// something else by now. The package cannot be dot-imported then.
func (k *check) hides(path string) bool {
	pkg, err := k.imp.Import(path)
	if err != nil {
		return true
	}
	for i, t := range k.toks {
		if t.tok != token.IDENT {
			continue
		}
		if name := k.name(i); token.IsExported(name) && (k.declared[name] || k.lives(name)) && pkg.Scope().Lookup(name) != nil {
			return true
		}
	}
	return false
}
