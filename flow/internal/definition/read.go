package definition

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// The limits within which definitions are read.
const (
	MaxSize    = 1 << 20 // bytes of a definition
	MaxNesting = 200     // of objects and arrays
)

// Read reads the text of the present source, or reports why it cannot be read: then
// the node is nil. A document that a definition has loaded may be any file, so it may
// be any value, and nothing is said of what is in it.
func (r *Report) Read(document bool) *Node {
	text := r.Source.Text
	if len(text) > MaxSize {
		r.Add(r.Rules.Size, nil, 0, "", fmt.Sprintf("the definition has %d bytes; %d is the most", len(text), MaxSize))
		return nil
	}
	if strings.TrimSpace(string(text)) == "" {
		r.Add(r.Rules.Object, nil, 0, "", "the definition must be a JSON object, found nothing")
		return nil
	}
	root, err := jsontext.Parse(text, MaxNesting)
	if broken, ok := errors.AsType[*jsontext.Error](err); ok {
		rule, problem := r.Rules.JSON, broken.Problem
		if broken.Deep {
			rule, problem = r.Rules.Nesting, r.Rules.Deep
		}
		if document {
			problem = "the document is not valid JSON"
		}
		r.Add(rule, nil, broken.Offset, "", problem)
		return nil
	}
	if root.Kind != jsontext.Object && !document {
		r.Valuef(r.Rules.Object, root, "the definition must be a JSON object, found %s", root.Kind)
		return nil
	}
	return root
}

// Repeated reports names that occur twice in one object, everywhere.
func (r *Report) Repeated(n *Node, rule func(in *Node) *Rule) {
	seen := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		if seen[m.Name] {
			r.Namef(rule(n), m, "", "the name %s occurs twice in one object", jsontext.Quote(m.Name))
		}
		seen[m.Name] = true
		r.Repeated(m.Value, rule)
	}
	for _, item := range n.Items {
		r.Repeated(item, rule)
	}
}
