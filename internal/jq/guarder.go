package jq

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// parse returns the syntax tree of a program.
func parse(source string) (*gojq.Query, error) {
	query, err := gojq.Parse(source)
	if broken, ok := errors.AsType[*gojq.ParseError](err); ok {
		at := min(broken.Offset, len(source)) - len(broken.Token)
		return nil, &Error{Offset: max(at, 0), Message: broken.Error()}
	}
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	return query, nil
}

// A guarder reads a syntax tree, refuses what a sandbox has not, and puts guards
// before what may cost much.
type guarder struct {
	source    string
	variables []string
	scope     *scope
	position  position
	inner     bool // what is read is a definition of this package
	grows     bool // a function's body was read that may make a path longer than the value is deep
	own       map[string]*gojq.FuncDef
	order     []string       // of own
	read      map[string]int // how often functions and variables were met
}

func newGuarder(source string, variables []string) *guarder {
	return &guarder{source: source, variables: variables, own: map[string]*gojq.FuncDef{}, read: map[string]int{}}
}

// A position is what becomes of the outputs of a query.
type position uint8

const (
	asValue position = iota
	asPath           // they stand for paths: in path(…), del(…), …, left of an assignment
	asBody           // that depends on where the function is called
)

// A scope is one name that can be seen, and what is around it.
type scope struct {
	outer *scope
	name  string // "$x", "f/1" or "label $x"
	fn    *function
}

// A function is one that the program defines.
type function struct {
	open  bool // its body is being read
	grows bool
}

func (s *scope) find(name string) *scope {
	for ; s != nil; s = s.outer {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (g *guarder) declare(name string, fn *function) {
	g.scope = &scope{outer: g.scope, name: name, fn: fn}
}

// within reads something with what is declared in it.
func (g *guarder) within(read func() error) error {
	outer := g.scope
	defer func() { g.scope = outer }()
	return read()
}

// at reads a query in a position, with what is declared in it.
func (g *guarder) at(p position, q *gojq.Query) error {
	outer := g.position
	g.position = p
	defer func() { g.position = outer }()
	return g.scoped(q)
}

func (g *guarder) value(q *gojq.Query) error { return g.at(asValue, q) }

func (g *guarder) scoped(q *gojq.Query) error {
	return g.within(func() error { return g.query(q) })
}

// fault places a fault where a word stands in the program that was just read.
func (g *guarder) fault(word, message, fix string) error {
	return &Error{Offset: locate(g.source, word, g.read[word]), Message: message, Fix: fix}
}

// growing notes something that is impossible in paths.
func (g *guarder) growing(word string) error {
	switch g.position {
	case asPath:
		return g.fault(word, word+" cannot be used inside a path", "use .. or recurse(.[]?)")
	case asBody:
		g.grows = true
	case asValue:
	}
	return nil
}

// program reads a whole program and puts before it the definitions that it uses
// of this package's.
func (g *guarder) program(q *gojq.Query) error {
	if len(q.Imports) > 0 || q.Meta != nil {
		return g.fault("import", "modules cannot be used here", "")
	}
	if q.Term == nil && q.Op == 0 {
		return &Error{Offset: len(g.source), Message: "the expression has no body", Fix: `use "."`}
	}
	for _, name := range g.variables {
		g.declare("$"+name, nil)
	}
	if err := g.query(q); err != nil {
		return err
	}
	var definitions []*gojq.FuncDef
	for _, name := range g.order {
		definitions = append(definitions, g.own[name])
	}
	q.FuncDefs = append(definitions, q.FuncDefs...)
	return nil
}

// query reads a query.
func (g *guarder) query(q *gojq.Query) error {
	for _, def := range q.FuncDefs {
		if err := g.define(def); err != nil {
			return err
		}
	}
	if q.Term != nil {
		return g.term(q.Term)
	}
	switch q.Op {
	case gojq.OpPipe:
		return g.pipe(q)
	case gojq.OpComma, gojq.OpAlt:
		return g.both(q, g.scoped)
	case gojq.OpAnd, gojq.OpOr:
		return g.both(q, g.value)
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul,
		gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		return g.assignment(q)
	default:
		return g.operation(q)
	}
}

func (g *guarder) both(q *gojq.Query, read func(*gojq.Query) error) error {
	if err := read(q.Left); err != nil {
		return err
	}
	return read(q.Right)
}

func (g *guarder) pipe(q *gojq.Query) error {
	if len(q.Patterns) == 0 {
		return g.both(q, g.scoped)
	}
	if err := g.value(q.Left); err != nil {
		return err
	}
	return g.within(func() error {
		if err := g.patterns(q.Patterns); err != nil {
			return err
		}
		return g.query(q.Right)
	})
}

// patterns reads destructuring patterns and declares their variables.
func (g *guarder) patterns(patterns []*gojq.Pattern) error {
	for _, p := range patterns {
		if err := g.pattern(p); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarder) pattern(p *gojq.Pattern) error {
	if p.Name != "" {
		g.declare(p.Name, nil)
		return nil
	}
	if err := g.patterns(p.Array); err != nil {
		return err
	}
	for _, member := range p.Object {
		if strings.HasPrefix(member.Key, "$") {
			g.declare(member.Key, nil)
		}
		if err := g.keyString(member.KeyString); err != nil {
			return err
		}
		if member.KeyQuery != nil {
			if err := g.value(member.KeyQuery); err != nil {
				return err
			}
		}
		if member.Val != nil {
			if err := g.pattern(member.Val); err != nil {
				return err
			}
		}
	}
	return nil
}

// define reads the definition of a function and declares it.
func (g *guarder) define(def *gojq.FuncDef) error {
	fn := &function{open: true}
	g.declare(def.Name+"/"+strconv.Itoa(len(def.Args)), fn)
	grows := g.grows
	g.grows = false
	err := g.within(func() error {
		for _, arg := range def.Args {
			if strings.HasPrefix(arg, "$") {
				g.declare(arg, nil)
				arg = arg[1:]
			}
			g.declare(arg+"/0", &function{})
		}
		return g.at(asBody, def.Body)
	})
	fn.open, fn.grows = false, g.grows
	g.grows = g.grows || grows
	return err
}

// term reads a term with its suffixes.
func (g *guarder) term(t *gojq.Term) error {
	if t.Type == gojq.TermTypeIndex && looksAtAll(t.Index) {
		suffixes := append([]*gojq.Suffix{{Index: t.Index}}, t.SuffixList...)
		*t = gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: suffixes}
	}
	if err := g.plain(t); err != nil {
		return err
	}
	for i := 0; i < len(t.SuffixList); i++ {
		switch s := t.SuffixList[i]; {
		case s.Iter:
			guardBefore(t, i, costFlat)
			i = 0
		case s.Index != nil:
			if err := g.index(s.Index); err != nil {
				return err
			}
			if looksAtAll(s.Index) {
				guardBefore(t, i, costText)
				i = 0
			}
		}
	}
	return nil
}

// looksAtAll reports whether an index may be one into a string, which is as long
// to find as the string is.
func looksAtAll(x *gojq.Index) bool { return x.Name == "" && x.Str == nil }

// guardBefore puts what stands before a suffix into a term of its own, with a
// guard behind. The suffix is the first one then.
func guardBefore(t *gojq.Term, suffix int, c cost) {
	before := *t
	before.SuffixList = t.SuffixList[:suffix:suffix]
	looked := guardInput(c)
	if suffix > 0 || before.Type != gojq.TermTypeIdentity {
		looked = piped(&gojq.Query{Term: &before}, looked)
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: looked, SuffixList: t.SuffixList[suffix:]}
}

// plain reads a term without its suffixes.
func (g *guarder) plain(t *gojq.Term) error {
	switch t.Type {
	case gojq.TermTypeIndex:
		return g.index(t.Index)
	case gojq.TermTypeFunc:
		return g.call(t)
	case gojq.TermTypeObject:
		return g.object(t.Object)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return nil
		}
		return g.value(t.Array.Query)
	case gojq.TermTypeNumber:
		if len(t.Number) > MaxDigits {
			return g.fault(t.Number, errDigits.Error(), "")
		}
	case gojq.TermTypeUnary:
		return g.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		return g.format(t)
	case gojq.TermTypeString:
		return g.text(t, "tostring")
	case gojq.TermTypeIf:
		return g.conditional(t.If)
	case gojq.TermTypeTry:
		if err := g.scoped(t.Try.Body); err != nil || t.Try.Catch == nil {
			return err
		}
		return g.scoped(t.Try.Catch)
	case gojq.TermTypeReduce:
		return g.reduce(t.Reduce)
	case gojq.TermTypeForeach:
		return g.foreach(t.Foreach)
	case gojq.TermTypeLabel:
		return g.within(func() error {
			g.declare("label "+t.Label.Ident, nil)
			return g.query(t.Label.Body)
		})
	case gojq.TermTypeBreak:
		if g.scope.find("label "+t.Break) == nil {
			return g.fault(t.Break, "there is no label "+t.Break, "")
		}
	case gojq.TermTypeQuery:
		return g.scoped(t.Query)
	default:
	}
	return nil
}

func (g *guarder) conditional(c *gojq.If) error {
	if err := g.value(c.Cond); err != nil {
		return err
	}
	if err := g.scoped(c.Then); err != nil {
		return err
	}
	for _, e := range c.Elif {
		if err := g.value(e.Cond); err != nil {
			return err
		}
		if err := g.scoped(e.Then); err != nil {
			return err
		}
	}
	if c.Else == nil {
		return nil
	}
	return g.scoped(c.Else)
}

func (g *guarder) reduce(r *gojq.Reduce) error {
	if err := g.growing("reduce"); err != nil {
		return err
	}
	return g.fold(r.Query, r.Patterns, r.Start, r.Update)
}

func (g *guarder) foreach(f *gojq.Foreach) error {
	if err := g.growing("foreach"); err != nil {
		return err
	}
	if f.Extract == nil {
		return g.fold(f.Query, f.Patterns, f.Start, f.Update)
	}
	return g.fold(f.Query, f.Patterns, f.Start, f.Update, f.Extract)
}

func (g *guarder) fold(over *gojq.Query, patterns []*gojq.Pattern, start *gojq.Query, each ...*gojq.Query) error {
	if err := g.scoped(over); err != nil {
		return err
	}
	if err := g.scoped(start); err != nil {
		return err
	}
	return g.within(func() error {
		if err := g.patterns(patterns); err != nil {
			return err
		}
		for _, q := range each {
			if err := g.scoped(q); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *guarder) object(o *gojq.Object) error {
	for _, member := range o.KeyVals {
		if strings.HasPrefix(member.Key, "$") {
			if err := g.variable(member.Key); err != nil {
				return err
			}
		}
		if err := g.keyString(member.KeyString); err != nil {
			return err
		}
		for _, q := range []*gojq.Query{member.KeyQuery, member.Val} {
			if q == nil {
				continue
			}
			if err := g.value(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyString reads the string that a member's name is. What is interpolated into
// it stays short.
func (g *guarder) keyString(s *gojq.String) error {
	if s == nil {
		return nil
	}
	for i, q := range s.Queries {
		if q.Term.Str != nil {
			continue
		}
		if err := g.value(q); err != nil {
			return err
		}
		text := piped(q, guardInput(costDeep), call("tostring"), guardInput(costKey))
		s.Queries[i] = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: text}}
	}
	return nil
}

// index reads .name, ."name", .[e] or .[e:e].
func (g *guarder) index(x *gojq.Index) error {
	if err := g.keyString(x.Str); err != nil {
		return err
	}
	for _, q := range []**gojq.Query{&x.Start, &x.End} {
		if *q == nil {
			continue
		}
		if n, ok := numeral(*q); ok {
			if i, _ := gojq.ToInt(n); i > MaxIndex {
				return g.fault((*q).Term.Number, errIndex.Error(), "")
			}
			continue
		}
		if err := g.value(*q); err != nil {
			return err
		}
		if !isText(*q) && !x.IsSlice {
			*q = piped(*q, guardInput(costIndex))
		}
	}
	return nil
}

// text reads a string. One with interpolations becomes a sum of its parts.
func (g *guarder) text(t *gojq.Term, format string) error {
	if t.Str == nil || t.Str.Queries == nil {
		return nil
	}
	var sum *gojq.Query
	for _, part := range t.Str.Queries {
		if part.Term.Str == nil {
			if err := g.value(part); err != nil {
				return err
			}
			part = piped(part, guardInput(costDeep), call(format))
		}
		if sum == nil {
			sum = part
		} else {
			sum = guarded(gojq.OpAdd, sum, part)
		}
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: sum, SuffixList: t.SuffixList}
	return nil
}

// formats are the functions behind @text and its like.
var formats = map[string]string{
	"@text": "tostring", "@json": "tojson", "@html": "_tohtml", "@uri": "_touri", "@urid": "_tourid", "@csv": "_tocsv",
	"@tsv": "_totsv", "@sh": "_tosh", "@base64": "_tobase64", "@base64d": "_tobase64d",
}

func (g *guarder) format(t *gojq.Term) error {
	format, ok := formats[t.Format]
	if !ok {
		return g.fault(t.Format, "there is no format "+t.Format, didYouMean(t.Format, slices.Collect(maps.Keys(formats))))
	}
	if t.Str != nil {
		if t.Str.Queries == nil {
			*t = gojq.Term{Type: gojq.TermTypeString, Str: t.Str, SuffixList: t.SuffixList}
			return nil
		}
		return g.text(t, format)
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: piped(guardInput(costDeep), call(format)), SuffixList: t.SuffixList}
	return nil
}

// operation reads an arithmetic operation or a comparison.
func (g *guarder) operation(q *gojq.Query) error {
	if err := g.both(q, g.value); err != nil {
		return err
	}
	if !isCheap(q) {
		*q = *guarded(q.Op, q.Left, q.Right)
	}
	return nil
}

// isCheap reports whether an operation costs little whatever its operands are.
func isCheap(q *gojq.Query) bool {
	_, left := numeral(q.Left)
	_, right := numeral(q.Right)
	switch q.Op {
	case gojq.OpMul:
		return left && right
	case gojq.OpAdd, gojq.OpSub, gojq.OpDiv:
		return left || right
	case gojq.OpMod:
		return true
	default: // a comparison
		return isConstant(q.Left) || isConstant(q.Right)
	}
}

// numeral returns the value of a number that stands in the program.
func numeral(q *gojq.Query) (any, bool) {
	if q.Term == nil || q.Term.Type != gojq.TermTypeNumber || len(q.Term.SuffixList) > 0 || len(q.FuncDefs) > 0 {
		return nil, false
	}
	n, err := Decode([]byte(q.Term.Number))
	return n, err == nil
}

// isText reports whether a query is a string that stands in the program.
func isText(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil &&
		len(q.Term.SuffixList) == 0 && len(q.FuncDefs) == 0
}

func isConstant(q *gojq.Query) bool {
	if _, ok := numeral(q); ok || isText(q) {
		return true
	}
	if q.Term == nil || len(q.Term.SuffixList) > 0 || len(q.FuncDefs) > 0 {
		return false
	}
	t := q.Term.Type
	return t == gojq.TermTypeNull || t == gojq.TermTypeTrue || t == gojq.TermTypeFalse
}

// updates are the operators behind += and its like.
var updates = map[gojq.Operator]gojq.Operator{
	gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul,
	gojq.OpUpdateDiv: gojq.OpDiv, gojq.OpUpdateMod: gojq.OpMod,
}

// assignment reads an assignment. One that computes becomes one that does not:
// p += v is v as $x | p |= . + $x.
func (g *guarder) assignment(q *gojq.Query) error {
	if err := g.growing(q.Op.String()); err != nil {
		return err
	}
	if err := g.at(asPath, q.Left); err != nil {
		return err
	}
	if err := g.value(q.Right); err != nil {
		return err
	}
	assign := &gojq.Query{Left: q.Left, Op: q.Op, Right: q.Right}
	if op, ok := updates[q.Op]; ok {
		const operand = "$__ebb_operand"
		sum := &gojq.Query{Left: identity(), Op: op, Right: call(operand)}
		if _, constant := numeral(q.Right); !constant || op == gojq.OpMul {
			sum = guarded(op, sum.Left, sum.Right)
		}
		assign = &gojq.Query{
			Left: q.Right, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: operand}},
			Right: &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: sum},
		}
	}
	definitions := q.FuncDefs
	*q = *piped(guardInput(costDeep), assign)
	q.FuncDefs = definitions
	return nil
}
