package sm4c

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A checker reads a definition and reports every rule that it breaks. On the way
// it notes in the nodes what they mean, from which the compiler then builds the
// machine: nothing is read twice, and a definition without errors can be
// compiled.
type checker struct {
	report
	options

	file     string
	text     []byte
	root     *node
	defined  [kinds]*definitions
	programs map[string]*jq.Program
	loaded   []source // documents, in the order in which they were loaded
	size     int      // of the definition and of them
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

// A Loader returns the document, in JSON, that a URI stands for. A caller that gives
// one decides what may be loaded.
type Loader func(uri string) ([]byte, error)

// Load lets definitions have their events, functions and retry policies in
// documents of their own. What was loaded is part of [Machine.Text], and is not
// loaded again when that is parsed.
func Load(l Loader) Option { return func(o *options) { o.loader = l } }

// LoadAPIs lets the OpenAPI documents of REST functions be loaded, too: it is
// checked that they have the operations, and they are stored with the definition,
// see [Machine.Document].
func LoadAPIs(l Loader) Option { return func(o *options) { o.apis = l } }

// Strict refuses what Ebb adds to the language: revert, functions of type task,
// resources, waitDefault.
func Strict() Option { return func(o *options) { o.strict = true } }

// WaitDefault lets calls without waitForCompletion be waited for, as the original
// engine does. By the text of the language they are not. A definition may say so
// itself, by "waitDefault".
func WaitDefault() Option { return func(o *options) { o.waits = true } }

// check reports the problems of a definition. The root is the whole definition,
// nil when it could not be read.
func check(file string, text []byte, opts []Option) *checker {
	c := &checker{report: report{source: source{file: file, text: text}}, file: file, text: text, programs: map[string]*jq.Program{}}
	for _, opt := range opts {
		opt(&c.options)
	}
	if root := c.read(); root != nil {
		c.root, c.size = root, len(text)
		c.repeated(root)
		c.waits = c.waits || get(root, "waitDefault").IsTrue()
		c.define(root)
		machineObject.check(c, root)
	}
	c.problems = c.sorted(file)
	return c
}

// read reads the text of the present source, or reports why it cannot be read.
func (c *checker) read() *node {
	text := c.source.text
	if len(text) > MaxDefinition {
		c.add(ruleSize, nil, 0, "", fmt.Sprintf("the definition has %d bytes; %d is the most", len(text), MaxDefinition))
		return nil
	}
	if strings.TrimSpace(string(text)) == "" {
		c.add(ruleObject, nil, 0, "", "the definition must be a JSON object, found nothing")
		return nil
	}
	root, err := jsontext.Parse(text, MaxNesting)
	if broken, ok := errors.AsType[*jsontext.Error](err); ok {
		rule := ruleJSON
		if broken.Deep {
			rule = ruleNesting
		}
		problem := broken.Problem
		if len(c.loaded) > 0 { // it may be any file: nothing is said of what is in it
			problem = "the document is not valid JSON"
		}
		c.add(rule, nil, broken.Offset, "", problem)
		return nil
	}
	if root.Kind != jsontext.Object && len(c.loaded) == 0 {
		c.valuef(ruleObject, root, "the definition must be a JSON object, found %s", root.Kind)
		return nil
	}
	return root
}

// repeated reports names that occur twice in one object, everywhere.
func (c *checker) repeated(n *node) {
	seen := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		if seen[m.Name] {
			c.namef(ruleOnce, m, "", "the name %s occurs twice in one object", quote(m.Name))
		}
		seen[m.Name] = true
		c.repeated(m.Value)
	}
	for _, item := range n.Items {
		c.repeated(item)
	}
}

// within begins messages with where something is, while it is read.
func (c *checker) within(where string, read func()) {
	outer := c.where
	c.where = where
	defer func() { c.where = outer }()
	read()
}

// extension reports, under strict validation, something that Ebb adds to the
// language.
func (c *checker) extension(n *node, what string) {
	if c.strict {
		c.valuef(ruleExtension, n, "%s is an addition of Ebb's to the language", what)
	}
}
