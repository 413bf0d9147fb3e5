package check

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
)

// A checker reads a definition and reports every rule that the definition breaks. At the same time it builds the
// machine, so it reads the definition once. If it finds no errors, the machine can run.
type checker struct {
	definition.Report
	Options

	main      definition.Source // the definition
	root      *node
	states    definitions[syntax.State]
	events    definitions[syntax.Event]
	functions definitions[syntax.Function]
	retries   definitions[syntax.Retry]
	programs  map[string]*jq.Program
	owners    owners
	calls     map[*syntax.Action]*node // where calls stand
	loaded    []definition.Source      // documents, in the order in which they were loaded
	size      int                      // size in bytes of the definition and the documents
}

// Options determine how a definition is read.
type Options struct {
	Strict bool
	Waits  bool
	Loader func(uri string) ([]byte, error) // of separate documents; may be nil
	APIs   func(uri string) ([]byte, error) // of the documents of functions; may be nil
}

// Definition returns the machine that a definition describes, and its problems. If there are errors, the machine cannot
// be used.
func Definition(name string, text []byte, chosen Options) (*syntax.Machine, flow.Diagnostics) {
	c := &checker{
		main:     definition.Source{File: name, Text: text},
		programs: map[string]*jq.Program{}, calls: map[*syntax.Action]*node{},
		owners: attributeOwners(),
	}
	c.Report = definition.Report{Rules: common, Source: c.main}
	c.Options = chosen
	m := &syntax.Machine{Name: name, ByName: map[string]*syntax.State{}}
	if root := c.Read(false); root != nil {
		c.root, c.size = root, len(text)
		c.repeated(root)
		c.Waits = c.Waits || get(root, "waitDefault").IsTrue()
		c.define(root)
		machineObject.fill(c, root, m)
	}
	problems := c.Sorted(name)
	if problems.Legal() {
		c.link(m)
		c.staysDone(m)
		problems = c.Sorted(name)
		m.Text, m.Documents = c.bundled(), c.documents()
	}
	return m, problems
}

func (c *checker) repeated(n *node) { c.Repeated(n, func(*node) *definition.Rule { return ruleOnce }) }

// extension reports, under strict validation, an addition of Ebb's to the language.
func (c *checker) extension(n *node, what string) {
	if c.Strict {
		c.Valuef(ruleExtension, n, "%s is an addition of Ebb's to the language", what)
	}
}
