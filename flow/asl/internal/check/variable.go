package check

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// assignRule accepts an Assign: a payload template whose fields are variables. A variable belongs to the level
// whose states assign it. Inner levels can read it.
type assignRule struct{}

func (assignRule) read(c *checker, n *node) []syntax.Variable {
	if !c.IsObject(n) {
		return nil
	}
	for _, m := range n.Members {
		name := m.Name
		if c.language == syntax.JSONPath {
			name = strings.TrimSuffix(name, ".$")
		}
		switch {
		case !isVariableName(name):
			c.Namef(ruleVariableName, m, "", "%s is no name for a variable", jsontext.Quote(name))
		case name == "states":
			c.Namef(ruleVariableName, m, "", "the variable name states is reserved")
		}
		c.scope.assigns[name] = append(c.scope.assigns[name], assignment{c.scope.current, m.Value})
	}
	return c.variables(n)
}

// variables reads the values of variables.
func (c *checker) variables(n *node) []syntax.Variable {
	out := make([]syntax.Variable, len(n.Members))
	if c.language == syntax.JSONata {
		for i, m := range n.Members {
			c.jsonPathField(m)
			out[i] = syntax.Variable{Name: m.Name, Value: c.document(m.Value)}
		}
		return out
	}
	t := c.template(n)
	for i, m := range n.Members {
		if t == nil {
			out[i] = syntax.Variable{Name: m.Name, Value: expression.Fixed{Value: data.Constant(m.Value.Tree())}}
		} else {
			out[i] = syntax.Variable{Name: t.Fields[i].Name, Value: t.Fields[i].Value.Payload()}
		}
	}
	return out
}

// isVariableName reports whether a name is an identifier of at most 80 characters. As Unicode defines it, an identifier
// begins with a letter, not with an underscore.
func isVariableName(name string) bool {
	for i, r := range name {
		if unicode.In(r, unicode.L, unicode.Nl) || i > 0 && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc) {
			continue
		}
		return false
	}
	return name != "" && utf8.RuneCountInString(name) <= maxNameLength
}

// An assignment is a position where a variable is assigned.
type assignment struct {
	state string
	at    *node
}

// A reading is a position where a variable is read.
type reading struct {
	name  string
	at    *node
	where string
	query bool // the reading is in JSONata
}

// reads records the variables that paths in a node name, and warns of what AWS understands differently.
func (c *checker) reads(n *node, paths ...*jsonpath.Path) {
	for _, path := range paths {
		if caution := path.Caution(); caution != "" {
			c.Valuef(ruleDialect, n, "%s %s: %s", nameOf(n), jsontext.Quote(path.Text()), caution)
		}
		switch {
		case path.Root() == jsonpath.RootContext:
			c.contextPath(n, path.Text())
		case path.Root() != jsonpath.RootVariable:
		case c.reverting:
			c.Valuef(ruleUndoVariable, n,
				"variables cannot be seen when a state is undone; put what is needed into the state's Parameters")
			return
		default:
			c.read(n, path.Variable())
		}
	}
}

// read records that a variable is read.
func (c *checker) read(n *node, name string) {
	c.scope.reads = append(c.scope.reads, reading{name, n, c.Where, c.language == syntax.JSONata})
	if s := c.scope.read[c.scope.current]; s != nil && !slices.Contains(s.Reads, name) {
		s.Reads = append(s.Reads, name)
	}
}

// shadows reports variables that an inner level assigns after an outer level has assigned them. The inner level can
// only read such variables.
func (c *checker) shadows(s *scope) {
	reported := map[string]bool{}
	for inner := s; inner.around() != nil; inner = inner.around() {
		var before map[string]bool // states of the outer level that come before this one
		for _, name := range slices.Sorted(maps.Keys(s.assigns)) {
			outer := inner.outer.assigns[name]
			if outer == nil || reported[name] {
				continue
			}
			if before == nil {
				before = inner.outer.leadingTo(inner.owner)
			}
			if slices.ContainsFunc(outer, func(a assignment) bool { return before[a.state] }) {
				reported[name] = true
				c.Valuef(ruleShadow, s.assigns[name][0].at,
					"the variable %s is assigned in a level around this one, too; it can be read here, not assigned",
					jsontext.Quote(name))
			}
		}
	}
}

// leadingTo returns the states from which another state can be reached.
func (s *scope) leadingTo(state string) map[string]bool {
	if s.before == nil {
		s.before = map[string][]string{}
		for _, name := range s.names {
			for _, next := range successors(s.states[name]) {
				s.before[next] = append(s.before[next], name)
			}
		}
	}
	return reach(s.before[state], func(name string) []string { return s.before[name] })
}

// unassigned warns of variables that are read although no visible state assigns them.
func (c *checker) unassigned(s *scope) {
	for _, r := range s.reads {
		if !c.Full(ruleUnassigned) && !s.assigned(r.name) {
			c.Where = r.where
			c.Fixf(ruleUnassigned, r.at, c.DidYouMean(ruleUnassigned, r.name, s.readable(r.query),
				func(name string) string { return "$" + name }),
				"no state that can be seen here assigns the variable $%s", jsontext.Cut(r.name))
		}
	}
	c.Where = ""
}

// assigned reports whether any state assigns a variable that is visible in a scope.
func (s *scope) assigned(name string) bool {
	for ; s != nil; s = s.around() {
		if s.assigns[name] != nil {
			return true
		}
	}
	return false
}

// readable returns the candidates for a suggestion: variables, and in JSONata also functions.
func (s *scope) readable(query bool) []string {
	if !query {
		return s.visible()
	}
	return append(append(s.visible(), "states"), jsonata.FunctionNames()...)
}

// visible returns the variables that are visible in a scope; none if there are too many for a suggestion.
func (s *scope) visible() []string {
	var names []string
	for ; s != nil; s = s.around() {
		if len(names)+len(s.assigns) > maxCandidates {
			return nil
		}
		names = append(names, slices.Sorted(maps.Keys(s.assigns))...)
	}
	return names
}

// around returns the scope whose variables are also visible in this one. The children of a distributed Map do not
// see variables of their parent.
func (s *scope) around() *scope {
	if s.apart {
		return nil
	}
	return s.outer
}
