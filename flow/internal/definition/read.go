package definition

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// Limits of definitions.
const (
	//limit:asl definition (`asl.MaxDefinition`); its nesting | {B}; {MaxNesting}
	MaxSize    = 1 << 20 // bytes of a definition
	MaxNesting = 200     // nesting of objects and arrays
)

// Read decodes the text of the current source. If it is not valid, Read reports that and returns nil. A document
// that a definition has loaded may be any file: it may contain any value, and messages do not quote its content.
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

// Repeated reports names that occur twice in one object, at any depth.
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

// IsText reports a value that is not a text.
func (r *Report) IsText(n *Node) bool { return r.is(n, jsontext.String, "a string") }

// IsObject reports a value that is not an object.
func (r *Report) IsObject(n *Node) bool { return r.is(n, jsontext.Object, "an object") }

// Bool reads true or false.
func (r *Report) Bool(n *Node) bool {
	return r.is(n, jsontext.Bool, "true or false") && n.IsTrue()
}

func (r *Report) is(n *Node, kind jsontext.Kind, what string) bool {
	if n.Kind != kind {
		r.Valuef(r.Rules.Type, n, "%s must be %s, found %s", NameOf(n), what, n.Kind)
	}
	return n.Kind == kind
}

// Items reads an array with at least that many elements.
func (r *Report) Items(n *Node, least int) []*Node {
	if r.is(n, jsontext.Array, "an array") && len(n.Items) < least {
		r.Valuef(r.Rules.Empty, n, "%s must not be empty", NameOf(n))
	}
	return n.Items
}

// OneOf lists words in a message.
func OneOf(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	if len(words) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(words)-1], ", ") + " or " + quoted[len(words)-1]
}
