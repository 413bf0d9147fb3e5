package check

import (
	_ "embed" // the integrations
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/awsshape"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/spelling"
)

//go:embed integrations.txt
var integrationsText string

// An integration describes the parameters of an action of a service.
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

// checkIntegration refuses optimized actions that AWS does not have. It warns of unknown calls of AWS's SDK, and of
// parameters that are missing or unknown, because AWS adds those often.
func checkIntegration(c *checker, n *node, t *syntax.Task) {
	if !strings.HasPrefix(t.URI, "arn:") || t.Lambda || t.Activity {
		return
	}
	if service, sdk := strings.CutPrefix(t.Service, "aws-sdk:"); sdk {
		checkSDKCall(c, n, t, service)
		return
	}
	resource, action := n.Get("Resource"), strings.TrimSuffix(t.Action, t.Pattern)
	if is := integrations()[t.Service+":"+action]; is != nil {
		checkParameters(c, n, is, t.Service+":"+action, slices.Contains[[]string])
		return
	}
	if !strings.HasPrefix(t.URI, "arn:aws:states:::") || strings.Contains(t.URI, "$") { // a placeholder
		return
	}
	services := map[string][]string{} // the actions of each service
	for _, name := range slices.Sorted(maps.Keys(integrations())) {
		service, other, _ := strings.Cut(name, ":")
		services[service] = append(services[service], other)
	}
	actions, fix := services[t.Service], fmt.Sprintf("write arn:aws:states:::aws-sdk:%s:%s", t.Service, t.Action)
	called := awsshape.Actions(t.Service)[action] != nil
	switch {
	case actions == nil:
		if !called {
			fix = c.DidYouMean(ruleIntegration, t.Service, slices.Sorted(maps.Keys(services)), plainly)
		}
		c.Fixf(ruleIntegration, resource, fix, "%s is not an optimized service", jsontext.Quote(t.Service))
	case action == "":
		c.Fixf(ruleIntegration, resource, "such as "+t.Service+":"+actions[0],
			"the resource names no action of the service %s", t.Service)
	default:
		if !called {
			fix = c.DidYouMean(ruleIntegration, action, actions, plainly)
		}
		c.Fixf(ruleIntegration, resource, fix, "the service %s has no optimized action %s", t.Service, jsontext.Quote(action))
	}
}

// checkSDKCall warns of a call of AWS's SDK that the models of services do not contain, and refuses a misspelled one.
// In JSONata, a call has Arguments, even if they are empty: the state's input is not passed.
func checkSDKCall(c *checker, n *node, t *syntax.Task, service string) {
	resource, action := n.Get("Resource"), strings.TrimSuffix(t.Action, t.Pattern)
	if c.language == syntax.JSONata && n.Get("Arguments") == nil && n.Get("Parameters") == nil {
		c.Valuef(ruleRequired, n, "Arguments field is required for resource ARN: %s", t.URI)
	}
	if strings.Contains(service+action, "$") {
		return // a placeholder
	}
	actions := awsshape.Actions(service)
	is := actions[action]
	switch {
	case actions == nil:
		fix := c.DidYouMean(ruleKnownIntegration, service, awsshape.Services(), plainly)
		if name := sdkNames[service]; name != "" {
			fix = fmt.Sprintf("did you mean %s?", name)
		}
		c.Fixf(ruleKnownIntegration, resource, fix, "%s is not known as a service of AWS's SDK", jsontext.Quote(service))
	case is == nil:
		names, rule := slices.Sorted(maps.Keys(actions)), ruleKnownIntegration // it may be newer than this version
		if spelling.IsSlip(action, spelling.Nearest(action, names)) {
			rule = ruleMisspelled
		}
		fix := c.DidYouMean(rule, action, names, plainly)
		c.Fixf(rule, resource, fix, "the service %s is not known to have an action %s", service, jsontext.Quote(action))
	default:
		checkParameters(c, n, &integration{required: is.Required, known: is.Known}, service+":"+action, hasParameter)
	}
}

// sdkNames maps names of services to different names that SDK integrations use for them.
var sdkNames = map[string]string{
	"stepfunctions": "sfn", "states": "sfn", "events": "eventbridge", "logs": "cloudwatchlogs", "email": "ses",
	"cognitoidp": "cognitoidentityprovider", "elbv2": "elasticloadbalancingv2", "deploy": "codedeploy",
}

// The actions that read the items of a distributed Map, and those that write its results.
var (
	readers = map[string]*integration{
		"s3:getObject":     {required: []string{"Bucket", "Key"}, more: true},
		"s3:listObjectsV2": {required: []string{"Bucket"}, more: true},
	}
	writers = map[string]*integration{"s3:putObject": {required: []string{"Bucket"}, more: true}}
)

// checkBucketAccess refuses a resource of a reader or writer that AWS does not have, and warns of missing parameters.
func checkBucketAccess(c *checker, n *node, r *syntax.Resource, known map[string]*integration) {
	resource, call := n.Get("Resource"), r.Service+":"+r.Action
	if resource == nil || !strings.HasPrefix(r.URI, "arn:") {
		return
	}
	if is := known[call]; is != nil {
		checkParameters(c, n, is, call, slices.Contains[[]string])
		return
	}
	c.Fixf(ruleReader, resource, c.DidYouMean(ruleReader, call, slices.Sorted(maps.Keys(known)), plainly),
		"%s does not read or write the items of a Map", call)
}

// hasParameter reports whether a name is a known parameter. The first letter must be in upper case. The case of the
// other letters is not compared, because AWS spells acronyms such as MD5 in its own way.
func hasParameter(known []string, name string) bool {
	return slices.ContainsFunc(known, func(other string) bool {
		return strings.EqualFold(name, other) && name[0] == other[0]
	})
}

// checkParameters warns of parameters of a call that are missing or unknown.
func checkParameters(c *checker, n *node, is *integration, call string, has func(names []string, name string) bool) {
	given, other := n.Get("Parameters"), n.Get("Arguments")
	if c.language == syntax.JSONata {
		given, other = other, given
	}
	if given == nil && other != nil || given != nil && given.Kind != jsontext.Object {
		return // the parameters are in the field of the other query language, or one expression returns all of them
	}
	var names []string
	if given != nil {
		for _, m := range given.Members {
			name := m.Name
			if c.language == syntax.JSONPath {
				name = strings.TrimSuffix(name, ".$")
			}
			names = append(names, name)
			if name != "" && !is.more && !has(is.known, name) {
				c.Namef(ruleParameter, m, c.DidYouMean(ruleParameter, name, is.known, plainly),
					"%s has no parameter %s", call, jsontext.Cut(name))
			}
		}
	}
	for _, name := range is.required {
		if !has(names, name) {
			c.Valuef(ruleParameter, n.Get("Resource"), "%s needs the parameter %s", call, name)
		}
	}
}
