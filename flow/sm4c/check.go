package sm4c

import (
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jq"
)

// A checker reads a definition and reports every rule that it breaks. On the way
// it makes the machine: nothing is read twice, and a definition without errors can be
// run.
type checker struct {
	definition.Report
	options

	main      definition.Source // the definition
	root      *node
	states    definitions[state]
	events    definitions[event]
	functions definitions[function]
	retries   definitions[retry]
	programs  map[string]*jq.Program
	loaded    []definition.Source // documents, in the order in which they were loaded
	size      int                 // of the definition and of them
}

// options are the choices about how a definition is read.
type options struct {
	strict bool
	waits  bool
	loader Loader
	apis   Loader
}

// An Option is a choice about how a definition is read.
type Option func(*options)

// A Loader returns the document, in JSON, that a URI stands for. The caller that
// provides the Loader decides which documents may be loaded.
type Loader func(uri string) ([]byte, error)

// Load lets definitions have their events, functions and retry policies in separate
// documents. The loaded documents are part of [Machine.Text]. They are not loaded
// again when that text is parsed.
func Load(l Loader) Option { return func(o *options) { o.loader = l } }

// LoadAPIs lets the OpenAPI documents of REST functions be loaded, too: it is
// checked that they have the operations, and they are stored with the definition,
// see [Machine.Document].
func LoadAPIs(l Loader) Option { return func(o *options) { o.apis = l } }

// Strict refuses Ebb's additions to the language: revert, functions of type task,
// resources, waitDefault.
func Strict() Option { return func(o *options) { o.strict = true } }

// WaitDefault lets calls without waitForCompletion be waited for, as the original
// engine does. By the text of the language they are not. A definition may say so
// itself, by "waitDefault".
func WaitDefault() Option { return func(o *options) { o.waits = true } }

// check returns the machine that a definition describes, and its problems. With errors
// among them the machine is of no use.
func check(name string, text []byte, opts []Option) (*Machine, Problems) {
	c := &checker{main: definition.Source{File: name, Text: text}, programs: map[string]*jq.Program{}}
	c.Report = definition.Report{Rules: common, Source: c.main}
	for _, opt := range opts {
		opt(&c.options)
	}
	m := &Machine{name: name, byName: map[string]*state{}}
	if root := c.Read(false); root != nil {
		c.root, c.size = root, len(text)
		c.repeated(root)
		c.waits = c.waits || get(root, "waitDefault").IsTrue()
		c.define(root)
		machineObject.fill(c, root, m)
	}
	problems := c.Sorted(name)
	if problems.Legal() {
		c.link(m)
		m.text, m.documents = c.bundled(), c.documents()
	}
	return m, problems
}

func (c *checker) repeated(n *node) { c.Repeated(n, func(*node) *definition.Rule { return ruleOnce }) }

// extension reports, under strict validation, something that Ebb adds to the
// language.
func (c *checker) extension(n *node, what string) {
	if c.strict {
		c.Valuef(ruleExtension, n, "%s is an addition of Ebb's to the language", what)
	}
}
