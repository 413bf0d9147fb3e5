package check

import (
	_ "embed" // the integrations
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

//go:embed integrations.txt
var integrationsText string

// An integration is what an action of a service is passed.
type integration struct {
	required, known []string
	more            bool // it has parameters that are not listed
}

var integrations = sync.OnceValue(func() map[string]*integration {
	all := map[string]*integration{}
	for line := range strings.Lines(integrationsText) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		is := &integration{}
		for _, word := range words[1:] {
			name, required := strings.CutSuffix(word, "!")
			switch {
			case word == "…":
				is.more = true
				continue
			case required:
				is.required = append(is.required, name)
			}
			is.known = append(is.known, name)
		}
		all[words[0]] = is
	}
	return all
})

// checkIntegration warns of actions that services are not known to have, and of parameters that are missing or
// unknown. AWS adds actions and parameters, so none is an error.
func checkIntegration(c *checker, n *node, t *syntax.Task) {
	resource := n.Get("Resource")
	if !strings.HasPrefix(t.URI, "arn:") || t.Lambda || t.Activity || strings.HasPrefix(t.Service, "aws-sdk:") {
		return
	}
	action := strings.TrimSuffix(t.Action, t.Pattern)
	is := integrations()[t.Service+":"+action]
	if is == nil {
		if _, known := (&syntax.Resource{URI: t.URI, Service: t.Service}).Patterns(); known {
			var actions []string
			for name := range integrations() {
				if service, other, _ := strings.Cut(name, ":"); service == t.Service {
					actions = append(actions, other)
				}
			}
			slices.Sort(actions)
			c.Fixf(ruleKnownIntegration, resource, c.DidYouMean(ruleKnownIntegration, action, actions, plainly),
				"the service %s is not known to have an optimized action %s", t.Service, jsontext.Quote(action))
		} else if t.Service != "" && strings.HasPrefix(t.URI, "arn:aws:states:::") {
			c.Valuef(ruleKnownIntegration, resource, "%s is not known as an optimized service", jsontext.Quote(t.Service))
		}
		return
	}
	given := n.Get("Parameters")
	if c.language == syntax.JSONata {
		given = n.Get("Arguments")
	}
	if given != nil && given.Kind != jsontext.Object {
		return // an expression gives them all
	}
	has := map[string]bool{}
	if given != nil {
		for _, m := range given.Members {
			name := m.Name
			if c.language == syntax.JSONPath {
				name = strings.TrimSuffix(name, ".$")
			}
			has[name] = true
			if !is.more && !slices.Contains(is.known, name) {
				c.Namef(ruleParameter, m, c.DidYouMean(ruleParameter, name, is.known, plainly),
					"%s:%s has no parameter %s", t.Service, action, jsontext.Cut(name))
			}
		}
	}
	for _, name := range is.required {
		if !has[name] {
			c.Valuef(ruleParameter, resource, "%s:%s needs the parameter %s", t.Service, action, name)
		}
	}
}
