package check

import (
	"regexp"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A definition that is part of a template has placeholders, which a deployment
// fills in: ${Name} in texts, and objects such as {"Ref": "Name"} in place of
// texts. They are legal where the value matters, and cannot be run.

var placeholderText = regexp.MustCompile(`\$\{!?[A-Za-z0-9_]+(?:(?:\.|::)[A-Za-z0-9_]+)*\}`)

// hasPlaceholder reports whether a value is not known yet, and notes that.
func hasPlaceholder(c *checker, n *node) bool {
	substitute(n)
	name := placeholderObject(n)
	if n.Kind == jsontext.String && strings.Contains(n.Str, "${") {
		name = placeholderText.FindString(n.Str)
	}
	if name != "" {
		placeholder(c, n, name)
	}
	return name != ""
}

// substitute puts a text in the place of a {"Fn::Sub": text} in which nothing is
// left to substitute.
func substitute(n *node) {
	if placeholderObject(n) == "Fn::Sub" {
		if text := n.Members[0].Value; text.Kind == jsontext.String && !strings.Contains(text.Str, "${") {
			n.Kind, n.Str, n.Members = jsontext.String, text.Str, nil
		}
	}
}

// placeholderObject returns the function of CloudFormation that an object is a
// call of, "" if it is none.
func placeholderObject(n *node) string {
	if n.Kind == jsontext.Object && len(n.Members) == 1 {
		if name := n.Members[0].Name; name == "Ref" || strings.HasPrefix(name, "Fn::") {
			return name
		}
	}
	return ""
}

func placeholder(c *checker, n *node, name string) {
	c.Valuef(rulePlaceholder, n, "%s has the placeholder %s, which a deployment fills in", nameOf(n), jsontext.Cut(name))
}
