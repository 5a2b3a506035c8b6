package cell

import (
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"
)

// syntaxHint says what to do about an error of the scanner or the parser at
// offset off.
func (s *split) syntaxHint(msg string, off int) string {
	off = min(off, len(s.src))
	c, _ := utf8.DecodeRuneInString(s.src[off:])
	if h := foreign[c]; h != "" && (strings.HasPrefix(msg, "illegal character") || strings.HasPrefix(msg, "curly")) {
		return h
	}
	if strings.HasPrefix(msg, "expected 1 expression") {
		return "a cell shows one expression; print several with fmt.Println(a, b)"
	}
	if msg == "illegal rune literal" {
		return `text stands in double quotes: "…"`
	}
	if i := s.tokenAt(off); i < len(s.toks) && s.toks[i].off == off {
		if h := s.phraseHint(i); h != "" {
			return h
		}
	}
	line, _ := s.position(off)
	start := s.lines[line-1]
	words := strings.FieldsFunc(s.src[start:min(start+80, len(s.src))], func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	return otherStatements[words[0]]
}

// foreign are characters that get into cells from other languages and from web
// pages.
var foreign = map[rune]string{
	'#': "a comment begins with //",
	'?': "Go has no ?: operator; write if … else",
	'$': "a name has no $ before it",
	'@': "Go has no decorators",
	'“': `this is a curly quotation mark; Go's is "`, '”': `this is a curly quotation mark; Go's is "`,
	'„': `this is a curly quotation mark; Go's is "`, '«': `Go's quotation mark is "`, '»': `Go's quotation mark is "`,
	'‘':      `this is a curly quotation mark; Go's are " for text and ' for a rune`,
	'’':      `this is a curly quotation mark; Go's are " for text and ' for a rune`,
	'\u00a0': "this is a no-break space; write a plain one",
	'\u200b': "this character cannot be seen; delete it", '\u200c': "this character cannot be seen; delete it",
	'\u200d': "this character cannot be seen; delete it", '\u2060': "this character cannot be seen; delete it",
	'\ufeff': "this character cannot be seen; delete it", '\u00ad': "this character cannot be seen; delete it",
	'–': "this is a dash; minus is -", '—': "this is a dash; minus is -", '−': "Go's minus is -",
	'×': "Go's sign is *", '·': "Go's sign is *", '÷': "Go's sign is /",
	'≠': "Go's sign is !=", '≤': "Go's sign is <=", '≥': "Go's sign is >=", '≡': "Go's sign is ==",
	'…': "write three dots: ...", '←': "Go's sign is <-",
	'（': "Go's bracket is (", '）': "Go's bracket is )", '［': "Go's bracket is [", '］': "Go's bracket is ]",
	'｛': "Go's bracket is {", '｝': "Go's bracket is }",
	'，': "Go's comma is ,", '；': "Go's semicolon is ;", '：': "Go's colon is :", '＝': "Go's sign is =",
	'\\': "a line that ends in an operator or a comma goes on in the next",
}

// phraseHint says what to do about token i, which the parser did not expect.
func (s *split) phraseHint(i int) string {
	next := s.at(i + 1)
	switch t := s.at(i); {
	case t == token.IDENT:
		switch s.name(i) {
		case "and", "or", "is":
			return "Go writes " + map[string]string{"and": "&&", "or": "||", "is": "=="}[s.name(i)]
		case "in":
			return "Go ranges with for _, x := range xs { … }"
		}
		if s.at(i-1) == token.IDENT && s.name(i-1) == "not" {
			return "Go writes !"
		}
		if s.at(i-1) == token.IDENT && s.name(i-1) == "lambda" {
			return "Go's is func(x int) int { return x + 1 }"
		}
	case t == token.ASSIGN && next == token.GTR:
		return "Go's is func(x int) int { return x + 1 }"
	case t == token.SUB && next == token.GTR:
		return "a result type follows the parameters without a sign: func f(x int) int"
	case t == token.DEFINE && s.at(i-2) == token.VAR:
		return "write var " + s.name(i-1) + " = … or " + s.name(i-1) + " := …"
	case t == token.DEFINE && s.at(i-1).IsKeyword():
		return s.name(i-1) + " is a keyword; choose another name"
	case t == token.INC || t == token.DEC:
		return "x" + s.name(i) + " is a statement of its own, and the sign stands behind"
	case t == token.ASSIGN && s.around(i) == token.RPAREN:
		return "Go has no named arguments"
	case t == token.ASSIGN && s.around(i) == token.RBRACE:
		return "in a literal a colon follows the key"
	case t == token.COLON && s.around(i) == token.STRUCT:
		return "a field's type follows its name without a sign: a int"
	case t == token.COLON && s.around(i) == token.RPAREN:
		return "a parameter's type follows its name without a sign: x int"
	case t == token.LSS && s.at(i-1) != token.SEMICOLON:
		return "type arguments stand in brackets: List[int], map[string]int"
	case t == token.RBRACK && s.at(i-1) == token.LBRACK && s.at(i-2) == token.IDENT:
		return "brackets come before the type: []int"
	case t == token.VAR && s.around(i) == token.STRUCT:
		return "a field has no var before it"
	case s.newline(i) && (s.around(i) == token.RPAREN || s.around(i) == token.RBRACE):
		return "a line that ends inside brackets needs a comma"
	}
	if first := s.chunkStart(i); first == i-1 && s.at(first) == token.IDENT && (s.at(i) == token.IDENT || s.at(i).IsLiteral()) {
		switch name := s.name(first); name {
		case "print", "println", "printf", "puts", "echo":
			return "write fmt.Println(…)"
		default:
			if _, ok := types.Universe.Lookup(name).(*types.Builtin); ok {
				return "a call has parentheses: " + name + "(…)"
			}
		}
	}
	return ""
}

// otherStatements are the first words of statements in other languages.
var otherStatements = map[string]string{
	"while": "Go's loop is for: for x < 3 { … }", "until": "Go's loop is for: for x < 3 { … }", "loop": "Go's loop is for: for { … }",
	"do": "Go's loop is for: for { … }", "foreach": "Go ranges with for _, x := range xs { … }",
	"let": hintDeclare, "auto": hintDeclare, "int": hintDeclare, "string": hintDeclare, "float64": hintDeclare, "bool": hintDeclare, "double": hintDeclare, "char": hintDeclare,
	"def": hintFunc, "function": hintFunc, "fn": hintFunc, "fun": hintFunc,
	"elif": hintElseIf, "elsif": hintElseIf, "elseif": hintElseIf,
	"class": hintType, "struct": hintType, "interface": hintType, "enum": hintType, "trait": hintType,
	"else": "else stands on the line of the } before it",
	"try":  hintError, "catch": hintError, "except": hintError, "raise": hintError, "throw": hintError, "finally": hintError,
	"from": hintImport, "include": hintImport, "using": hintImport, "import": hintImport,
}

const (
	hintDeclare = "Go declares with x := 1 or var x int"
	hintFunc    = "Go declares functions with func f(x int) int { … }"
	hintElseIf  = "Go writes } else if … {"
	hintType    = "Go declares types with type T struct { … }"
	hintError   = "Go functions return errors: v, err := f()"
	hintImport  = `Go imports with import "math", or import m "math"`
)
