package jq

import (
	"errors"
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

// A guarder reads a syntax tree, refuses what a sandbox does not have, and puts guards before expensive operations.
type guarder struct {
	source    string
	variables []string
	scope     *scope
	position  position
	inner     bool // the guarder reads a definition of this package
	grows     bool // set if a function's body can make a path longer than its input is deep
	own       map[string]*gojq.FuncDef
	order     []string       // of own
	read      map[string]int // how often each function and variable occurred
}

func newGuarder(source string, variables []string) *guarder {
	return &guarder{source: source, variables: variables, own: map[string]*gojq.FuncDef{}, read: map[string]int{}}
}

// A position says how the outputs of a query are used.
type position uint8

const (
	asValue position = iota
	asPath           // as paths: in path(…), del(…), …, left of an assignment
	asBody           // depends on the call of the function
)

// A scope is one visible name, with the scope around it.
type scope struct {
	outer *scope
	name  string // "$x", "f/1" or "label $x"
	fn    *function
}

// A function is a function that the program defines.
type function struct {
	open  bool // the guarder is reading its body
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

// within reads a query in a scope with declared names.
func (g *guarder) within(read func() error) error {
	outer := g.scope
	defer func() { g.scope = outer }()
	return read()
}

// at reads a query in a position, with declared names.
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

// fault returns an error with the position of the last word that was read.
func (g *guarder) fault(word, message, fix string) error {
	return &Error{Offset: locate(g.source, word, g.read[word]), Message: message, Fix: fix}
}

// growing refuses, in a path, an operation that cannot stand in paths. In the body of a function, it records it.
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

// program reads a whole program, and puts the definitions of this package that it uses before it.
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
