package sm4c

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/redact"
)

// kind tells apart what a machine defines by name.
type kind uint8

const (
	stateKind kind = iota
	eventKind
	functionKind
	retryKind
	kinds
)

// String returns the kind as messages call it.
func (k kind) String() string {
	return [...]string{stateKind: "state", eventKind: "event", functionKind: "function", retryKind: "retry policy"}[k]
}

// member returns the member of a machine that has the definitions of the kind.
func (k kind) member() string {
	return [...]string{stateKind: "states", eventKind: "events", functionKind: "functions", retryKind: "retries"}[k]
}

// A definition is one thing that is defined by name.
type definition struct {
	name    string
	node    *node
	source  source
	formula *expression // of an expression function
}

// definitions are all of one kind.
type definitions struct {
	list   []*definition
	names  []string
	exact  map[string]*definition
	folded map[string]*definition
}

// find returns what a reference means: the definition of exactly that name, or
// the one whose name has other messages in case only.
func (d *definitions) find(name string) *definition {
	if found := d.exact[name]; found != nil {
		return found
	}
	return d.folded[strings.ToLower(name)]
}

// define collects what the machine defines, loads what is elsewhere, and checks
// all of it but the states.
func (c *checker) define(root *node) {
	for k := range kinds {
		d := &definitions{exact: map[string]*definition{}, folded: map[string]*definition{}}
		c.defined[k] = d
		nodes, from := c.collection(root, k)
		for _, n := range nodes {
			d.add(c, k, n, from)
		}
	}
	for k, f := range map[kind]*objectRule{eventKind: eventObject, functionKind: functionObject, retryKind: retryObject} {
		for _, def := range c.defined[k].list {
			c.from(def.source, func() {
				c.within(k.String()+" "+quote(def.name)+": ", func() { f.check(c, def.node) })
			})
		}
	}
	c.circles()
}

// from reads something of another source.
func (c *checker) from(s source, read func()) {
	outer := c.source
	c.source = s
	defer func() { c.source = outer }()
	read()
}

func (d *definitions) add(c *checker, k kind, n *node, from source) {
	def := &definition{name: text(n, "name"), node: n, source: from}
	d.list = append(d.list, def)
	if k == functionKind && typeOf(n) == expressionFunction {
		def.formula = &expression{args: true}
	}
	n.Means = def
	if def.name == "" {
		return // its objectRule reports it
	}
	folded := strings.ToLower(def.name)
	if other := d.folded[folded]; other != nil {
		c.from(from, func() {
			c.valuef(ruleNameOnce, n.Get("name"), "there are two %ss named %s", k, quote(other.name))
		})
		return
	}
	d.names = append(d.names, def.name)
	d.exact[def.name], d.folded[folded] = def, def
}

// collection returns the definitions of a kind, and where they stand: in the
// machine, or in a document that it names.
func (c *checker) collection(root *node, k kind) ([]*node, source) {
	n := get(root, k.member())
	switch {
	case n == nil:
		return nil, c.source
	case n.Kind == jsontext.String && k != stateKind:
		return c.document(n, k)
	}
	return n.Items, c.source
}

// document returns the definitions of a kind in the document with a URI: the
// document is the array of them, or an object that has it.
func (c *checker) document(uri *node, k kind) ([]*node, source) {
	doc, from := c.resource(uri, uri.Str, c.loader)
	if doc == nil {
		return nil, from
	}
	if doc.Kind == jsontext.Object {
		if list := get(doc, k.member()); list != nil {
			doc = list
		}
	}
	if doc.Kind != jsontext.Array {
		c.from(from, func() {
			c.valuef(ruleType, doc, "%s must be an array, or an object with %s, found %s", k.member(), k.member(), doc.Kind)
		})
		return nil, from
	}
	if named := func(n *node) bool { return get(n, "name") != nil }; len(doc.Items) > 0 && !slices.ContainsFunc(doc.Items, named) {
		c.from(from, func() { c.valuef(ruleType, doc, "no element of the document is a %s", k) }) // it may be any file: its words stay unsaid
		return nil, from
	}
	c.from(from, func() { c.repeated(doc) })
	return doc.Items, from
}

// resource returns a document that a value names: one of those that came with the
// definition, or one that is loaded.
func (c *checker) resource(at *node, uri string, load Loader) (*node, source) {
	if doc := get(get(c.root, "resources"), uri); doc != nil {
		return doc, source{file: c.file, text: c.text}
	}
	for _, s := range c.loaded {
		if s.file == uri {
			doc, err := jsontext.Parse(s.text, MaxNesting)
			if err != nil {
				return nil, s
			}
			return doc, s
		}
	}
	if load == nil || len(c.loaded) == maxDocuments {
		c.fixf(ruleLoad, at, "write what it has here", "%s: documents are not loaded here, not %s either", nameOf(at), quote(redact.URL(uri)))
		return nil, c.source
	}
	body, err := load(uri)
	switch {
	case err != nil:
		c.valuef(ruleLoad, at, "%s cannot be loaded: %v", quote(redact.URL(uri)), err)
		return nil, c.source
	case c.size+len(body) > MaxDefinition:
		c.valuef(ruleSize, at, "the definition has %d bytes with %s; %d is the most", c.size+len(body), quote(redact.URL(uri)), MaxDefinition)
		return nil, c.source
	}
	s := source{file: uri, text: body}
	c.loaded = append(c.loaded, s)
	c.size += len(body)
	var doc *node
	c.from(s, func() { doc = c.read() })
	return doc, s
}

// documents returns what came with the definition, or was loaded.
func (c *checker) documents() map[string][]byte {
	documents := map[string][]byte{}
	if n := get(c.root, "resources"); n != nil {
		for _, m := range n.Members {
			documents[m.Name] = c.text[m.Value.At:m.Value.End]
		}
	}
	for _, s := range c.loaded {
		documents[s.file] = s.text
	}
	return documents
}

// circles reports expression functions that refer to themselves.
func (c *checker) circles() {
	for _, def := range c.defined[functionKind].list {
		e := def.formula
		for range c.defined[functionKind].list {
			if e != nil {
				e = e.fn
			}
		}
		if e != nil { // further than there are functions
			c.from(def.source, func() {
				c.valuef(ruleFnCircle, def.node, "the function %s refers to itself", quote(def.name))
			})
			def.formula.fn = nil
		}
	}
}

// bundled returns the definition with what it has loaded: it can be parsed
// without loading anything.
func (c *checker) bundled() []byte {
	if len(c.loaded) == 0 {
		return c.source.text
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
	body := c.source.text
	if n := c.root.Get("resources"); n != nil { // replaced where it stands
		return slices.Concat(body[:n.At], []byte("{"), b, []byte("}"), body[n.End:])
	}
	return slices.Concat(body[:c.root.End-1], []byte(rest), body[c.root.End:])
}
