package jsonpath

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a path. Its error is a *ParseError.
func Parse(text string) (*Path, error) {
	path := &Path{text: text}
	p := &parser{path: path}
	s := p.trim(span{0, len(text)}, blanks, blanks)
	switch {
	case len(text) > MaxLength:
		return nil, p.fail(MaxLength, "the path is %d bytes long; at most %d are allowed", len(text), MaxLength)
	case !utf8.ValidString(text):
		return nil, p.fail(0, "the path is not valid UTF-8")
	case !strings.HasPrefix(p.of(s), "$"):
		return nil, p.fail(s.from, "a path begins with $, as in $.name; found %s", p.here(s))
	}
	s.from++
	if strings.HasPrefix(p.of(s), "$") {
		path.root = RootContext
		s.from++
	} else if path.variable = identifier(p.of(s)); path.variable != "" {
		path.root = RootVariable
		s.from += len(path.variable)
	}
	query, err := p.query(s)
	if err != nil {
		return nil, err
	}
	path.query = query
	return path, nil
}

// blanks are the characters that Java trims from a text.
const blanks = " \t\r\n"

// identifier returns the name of a variable at the start of a text, or "".
func identifier(text string) string {
	for i, r := range text {
		first := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if !first && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)) {
			return text[:i]
		}
	}
	return text
}

// parser reads the parts of a path, which are spans of its text.
type parser struct {
	path     *Path
	inFilter bool
}

// A span is a part of the path's text, as offsets.
type span struct{ from, to int }

func (p *parser) of(s span) string { return p.path.text[s.from:s.to] }

// trim returns s without the given characters at its start and end.
func (p *parser) trim(s span, left, right string) span {
	text := strings.TrimLeft(p.of(s), left)
	s.from = s.to - len(text)
	return span{s.from, s.from + len(strings.TrimRight(text, right))}
}

// caution notes that newer versions of JSONPath give the path another meaning.
func (p *parser) caution(text string) {
	if p.path.caution == "" {
		p.path.caution = text
	}
}

// query reads steps.
func (p *parser) query(s span) (query, error) {
	q := query{definite: true}
	if s.from < s.to && !strings.ContainsRune(".[", rune(p.path.text[s.from])) {
		return q, p.fail(s.from, "expected . or [ after the root, found %s", p.here(s))
	}
	for s.from < s.to {
		if n := len(q.steps); n > 0 && q.steps[n-1].kind == stepMembers {
			q.steps[n-1].kind = stepNothing
			p.caution("AWS's JSONPath finds nothing after several names in brackets")
		}
		next, err := p.step(&s)
		if err != nil {
			return q, err
		}
		q.steps = append(q.steps, next)
		q.definite = q.definite && next.definite()
		q.repeats = q.repeats || next.descend || next.kind == stepIndices
	}
	return q, nil
}

// step reads the step at the start of s and removes it from s.
func (p *parser) step(s *span) (step, error) {
	next := step{offset: s.from}
	dots := len(p.of(*s)) - len(strings.TrimLeft(p.of(*s), "."))
	dots = min(dots, 2)
	next.descend = dots == 2
	s.from += dots
	if text := p.of(*s); strings.HasPrefix(text, "[") {
		end := closing(text)
		if end < 0 {
			return next, p.fail(s.from, "the bracket is never closed")
		}
		inside := span{s.from + 1, s.from + end}
		s.from += end + 1
		return next, p.brackets(&next, inside)
	}
	name := p.of(*s)
	if end := strings.IndexAny(name, ".[ "); end >= 0 {
		name = name[:end]
	}
	start := s.from
	s.from += len(name)
	switch {
	case strings.HasPrefix(p.of(*s), " "):
		return next, p.blank(*s)
	case name == "":
		return next, p.fail(start, "expected a name, * or [ after the dot, found %s", p.here(*s))
	case name == "*":
		next.kind = stepAll
	default:
		next.names = []string{name}
	}
	if word, call := strings.CutSuffix(name, "()"); call && slices.Contains(functions, word) {
		p.caution("AWS's JSONPath has no functions, and takes " + name + " for a name")
	}
	return next, nil
}

// functions are the functions of newer versions.
var functions = []string{
	"min", "max", "avg", "stddev", "length", "sum", "keys", "concat", "append", "first", "last", "index", "size",
}

// operatorWords are the operators of newer versions that are words.
var operatorWords = []string{"in", "nin", "subsetof", "anyof", "noneof", "all", "contains", "size", "empty"}

// blank says why a path cannot contain the blank at the start of s.
func (p *parser) blank(s span) error {
	if words := strings.Fields(p.of(s)); p.inFilter && len(words) > 0 {
		word, _, _ := strings.Cut(words[0], "[")
		if slices.Contains(operatorWords, word) {
			return p.fail(s.from+1, "AWS's JSONPath has no operator %s; there are %s", word, strings.Join(operators, " "))
		}
	}
	return p.fail(s.from, "a blank cannot stand in a name without quotes; write ['a name']")
}

// closing returns the index of the bracket that closes the one at the start of text, or -1. As on AWS, brackets within
// quotes count.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// fromEnd is the only script: an index from the end of an array.
var fromEnd = regexp.MustCompile(`^\(@\.(?:length|size)(?:\(\))?(-\d+)\)$`)

// brackets reads what stands in brackets.
func (p *parser) brackets(next *step, s span) error {
	text := strings.ReplaceAll(p.of(s), " ", "")
	switch {
	case p.of(s) == "*":
		next.kind = stepAll
		return nil
	case strings.HasPrefix(text, "?"):
		return p.filter(next, s)
	case strings.HasPrefix(text, "'"):
		return p.quoted(next, s)
	case strings.HasPrefix(text, `"`):
		return p.fail(s.from, "AWS's JSONPath has single quotes only; write ['a name']")
	}
	var ok bool
	switch script := fromEnd.FindStringSubmatch(text); {
	case script != nil:
		next.kind = stepLast
		next.numbers, ok = integers(script[1:])
	case strings.Contains(text, ":"):
		ok = p.slice(next, strings.Split(text, ":"))
	default:
		next.kind = stepIndices
		if next.numbers, ok = integers(strings.Split(text, ",")); ok && len(next.numbers) == 1 {
			next.kind = stepIndex
			if next.numbers[0] < 0 {
				p.caution("AWS's JSONPath has no element [" + text + "]; write [(@.length" + text + ")]")
			}
		}
	}
	if !ok {
		return p.fail(s.from, "expected a name in single quotes, an index of at most 32 bits, a slice such as [0:2], [*], "+
			"[(@.length-1)] or [?(…)] in the brackets")
	}
	return nil
}

// slice reads [1:], [:2] or [1:2]. What follows another colon means nothing.
func (p *parser) slice(next *step, bounds []string) bool {
	if len(bounds) > 2 {
		p.caution("AWS's JSONPath has no slices by steps, and ignores the step")
	}
	var ok bool
	switch {
	case bounds[1] != "" && bounds[0] != "":
		next.kind = stepBetween
		if next.numbers, ok = integers(bounds[:2]); ok && min(next.numbers[0], next.numbers[1]) < 0 {
			p.caution("AWS's JSONPath counts from the end in [-n:] and [:-n] only; this slice is empty")
		}
	case bounds[0] != "":
		next.kind = stepFrom
		next.numbers, ok = integers(bounds[:1])
	default:
		next.kind = stepTo
		next.numbers, ok = integers(bounds[1:2])
	}
	return ok
}

// integers reads integers of at most 32 bits.
func integers(texts []string) ([]int, bool) {
	list := make([]int, len(texts))
	for i, text := range texts {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || strings.HasPrefix(text, "+") {
			return nil, false
		}
		list[i] = int(n)
	}
	return list, true
}

// quoted reads 'a' or 'a','b'. There are no escapes.
func (p *parser) quoted(next *step, s span) error {
	parts := strings.Split(p.of(s), "'")
	if len(parts)%2 == 0 {
		return p.fail(s.from, "a quote is never closed; AWS's JSONPath has no escapes, and no names with ' or ]")
	}
	for i, part := range parts {
		comma := i > 0 && i < len(parts)-1
		switch part = strings.Trim(part, " "); {
		case i%2 == 1:
			next.names = append(next.names, parts[i])
		case part != "" && !comma, part != "," && comma:
			return p.fail(s.from, "expected names in single quotes with a comma between them")
		}
	}
	if len(next.names) > 1 {
		next.kind = stepMembers
	}
	return nil
}
