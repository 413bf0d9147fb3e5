package definition

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// IsText reports a value that is no text.
func (r *Report) IsText(n *Node) bool { return r.is(n, jsontext.String, "a string") }

// IsObject reports a value that is no object.
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

// Items reads an array that has so many elements at least.
func (r *Report) Items(n *Node, least int) []*Node {
	if r.is(n, jsontext.Array, "an array") && len(n.Items) < least {
		r.Valuef(r.Rules.Empty, n, "%s must not be empty", NameOf(n))
	}
	return n.Items
}

// OneOf lists words as messages do.
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
