package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/redact"
)

// A kind is a kind of definition that a machine refers to by name.
type kind struct {
	name   string // name of the kind in messages
	member string // member of the machine that contains the definitions
}

// A defined is one definition with a name.
type defined[D any] struct {
	name   string
	node   *node
	source definition.Source
	read   *D
}

// definitions contains all definitions of one kind.
type definitions[D any] struct {
	kind   kind
	list   []*defined[D]
	names  []string
	folded map[string]*defined[D] // by lower-case name
}

// find returns the definition with that name, in any case.
func (d *definitions[D]) find(name string) *defined[D] { return d.folded[strings.ToLower(name)] }

// define collects the definitions of the machine, loads documents, and reads everything except the states.
func (c *checker) define(root *node) {
	c.states = declare[syntax.State](c, root, kind{"state", "states"})
	c.events = declare[syntax.Event](c, root, kind{"event", "events"})
	c.functions = declare[syntax.Function](c, root, kind{"function", "functions"})
	c.retries = declare[syntax.Retry](c, root, kind{"retry policy", "retries"})
	for _, def := range c.functions.list {
		if typeOf(def.node) == syntax.ExpressionFunction {
			def.read.Formula = &syntax.Expression{Args: true}
		}
	}
	c.events.fill(c, eventObject)
	c.functions.fill(c, functionObject)
	c.retries.fill(c, retryObject)
	c.circles()
}

// declare collects the definitions of a kind.
func declare[D any](c *checker, root *node, k kind) definitions[D] {
	d := definitions[D]{kind: k, folded: map[string]*defined[D]{}}
	nodes, from := c.collection(root, k)
	for _, n := range nodes {
		d.add(c, n, from)
	}
	return d
}

// fill reads the definitions.
func (d *definitions[D]) fill(c *checker, rule *objectRule[D]) {
	for _, def := range d.list {
		c.from(def.source, func() {
			c.Within(d.kind.name+" "+quote(def.name)+": ", func() { rule.fill(c, def.node, def.read) })
		})
	}
}

// from reads definitions from another source.
func (c *checker) from(s definition.Source, read func()) {
	outer := c.Source
	c.Source = s
	defer func() { c.Source = outer }()
	read()
}

func (d *definitions[D]) add(c *checker, n *node, from definition.Source) {
	def := &defined[D]{name: text(n, "name"), node: n, source: from, read: new(D)}
	d.list = append(d.list, def)
	if def.name == "" {
		return // already reported
	}
	folded := strings.ToLower(def.name)
	if other := d.folded[folded]; other != nil {
		c.from(from, func() {
			c.Valuef(ruleNameOnce, n.Get("name"), "there are two %ss named %s", d.kind.name, quote(other.name))
		})
		return
	}
	d.names = append(d.names, def.name)
	d.folded[folded] = def
}

// collection returns the definitions of a kind and their source: the machine, or a document that it names.
func (c *checker) collection(root *node, k kind) ([]*node, definition.Source) {
	n := get(root, k.member)
	switch {
	case n == nil:
		return nil, c.Source
	case n.Kind == jsontext.String && k.member != "states":
		return c.document(n, k)
	}
	return n.Items, c.Source
}

// document returns the definitions of a kind in the document with a URI: the document is an array of them, or an
// object that contains the array.
func (c *checker) document(uri *node, k kind) ([]*node, definition.Source) {
	doc, from := c.resource(uri, uri.Str, c.Loader)
	if doc == nil {
		return nil, from
	}
	if doc.Kind == jsontext.Object {
		if list := get(doc, k.member); list != nil {
			doc = list
		}
	}
	if doc.Kind != jsontext.Array {
		c.from(from, func() {
			c.Valuef(ruleType, doc, "%s must be an array, or an object with %s, found %s", k.member, k.member, doc.Kind)
		})
		return nil, from
	}
	if named := func(n *node) bool { return get(n, "name") != nil }; len(doc.Items) > 0 &&
		!slices.ContainsFunc(doc.Items, named) {
		// The document may be any file, so do not quote its content.
		c.from(from, func() { c.Valuef(ruleType, doc, "no element of the document is a %s", k.name) })
		return nil, from
	}
	c.from(from, func() { c.repeated(doc) })
	return doc.Items, from
}

// resource returns the document that a value names: one that came with the definition, or a loaded one.
func (c *checker) resource(at *node, uri string, load func(uri string) ([]byte, error)) (*node, definition.Source) {
	if doc := get(get(c.root, "resources"), uri); doc != nil {
		return doc, c.main
	}
	for _, s := range c.loaded {
		if s.File == uri {
			doc, err := jsontext.Parse(s.Text, maxNesting)
			if err != nil {
				return nil, s
			}
			return doc, s
		}
	}
	if load == nil || len(c.loaded) == maxDocuments {
		c.Fixf(ruleLoad, at, "write what it has here", "%s: documents are not loaded here, not %s either", nameOf(at),
			quote(redact.URL(uri)))
		return nil, c.Source
	}
	body, err := load(uri)
	switch {
	case err != nil:
		c.Valuef(ruleLoad, at, "%s cannot be loaded: %v", quote(redact.URL(uri)), err)
		return nil, c.Source
	case c.size+len(body) > MaxDefinition:
		c.Valuef(ruleSize, at, "the definition has %d bytes with %s; %d is the most", c.size+len(body),
			quote(redact.URL(uri)), MaxDefinition)
		return nil, c.Source
	}
	s := definition.Source{File: uri, Text: body}
	c.loaded = append(c.loaded, s)
	c.size += len(body)
	var doc *node
	c.from(s, func() { doc = c.Read(true) })
	return doc, s
}

// documents returns the documents that came with the definition or were loaded.
func (c *checker) documents() map[string][]byte {
	documents := map[string][]byte{}
	if n := get(c.root, "resources"); n != nil {
		for _, m := range n.Members {
			documents[m.Name] = c.main.Text[m.Value.At:m.Value.End]
		}
	}
	for _, s := range c.loaded {
		documents[s.File] = s.Text
	}
	return documents
}

// circles reports expression functions that refer to themselves.
func (c *checker) circles() {
	for _, def := range c.functions.list {
		e := def.read.Formula
		for range c.functions.list {
			if e != nil {
				e = e.Fn
			}
		}
		if e != nil { // more steps than there are functions
			c.from(def.source, func() {
				c.Valuef(ruleFnCircle, def.node, "the function %s refers to itself", quote(def.name))
			})
			def.read.Formula.Fn = nil
		}
	}
}

// bundled returns the definition with the documents that it loaded. Parsing it loads nothing.
func (c *checker) bundled() []byte {
	if len(c.loaded) == 0 {
		return c.main.Text
	}
	documents := c.documents()
	var b []byte
	for i, uri := range slices.Sorted(maps.Keys(documents)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, uri), ':')
		b = append(b, documents[uri]...)
	}
	rest := fmt.Sprintf(`,"resources":{%s}}`, b)
	body := c.main.Text
	if n := c.root.Get("resources"); n != nil { // replaced in its position
		return slices.Concat(body[:n.At], []byte("{"), b, []byte("}"), body[n.End:])
	}
	return slices.Concat(body[:c.root.End-1], []byte(rest), body[c.root.End:])
}
