package check

import (
	"regexp"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A definition in a template may contain placeholders, which a deployment replaces: ${Name} in texts, and objects
// such as {"Ref": "Name"} in place of texts. They are legal, but a definition with placeholders cannot run.

var placeholderText = regexp.MustCompile(`\$\{!?[A-Za-z0-9_]+(?:(?:\.|::)[A-Za-z0-9_]+)*\}`)

// hasPlaceholder reports whether a value contains a placeholder, and records that.
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

// substitute replaces {"Fn::Sub": text} by the text if the text contains nothing to substitute.
func substitute(n *node) {
	if placeholderObject(n) == "Fn::Sub" {
		if text := n.Members[0].Value; text.Kind == jsontext.String && !strings.Contains(text.Str, "${") {
			n.Kind, n.Str, n.Members = jsontext.String, text.Str, nil
		}
	}
}

// placeholderObject returns the CloudFormation function that an object calls; "" if it is not a call.
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
