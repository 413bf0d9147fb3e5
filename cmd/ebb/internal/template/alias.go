package template

import (
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// An Alias is an alias of a machine, for its current definition.
type Alias struct {
	document.Place

	Name, Machine string // the name of the machine
}

// A Version is a version of a machine that the template publishes.
type Version struct {
	document.Place

	Machine, Description string // the name of the machine
}

// addAlias adds an alias. It routes to versions, of which an emulator has only the one of the template.
func (e *evaluator) addAlias(r *resource) {
	routes := e.value(r.properties.Get("RoutingConfiguration"))
	if routes == nil {
		routes = &document.Document{Items: []*document.Document{
			{Members: []document.Member{{Name: "StateMachineVersionArn", Value: e.deployed(r)}}},
		}}
	}
	if len(routes.Items) == 0 {
		e.problemf(r.Place, "the alias %s routes to no version", r.id)
		return
	}
	machine, _, _ := strings.Cut(machineOf(e.say(routes.Items[0].Get("StateMachineVersionArn"))), ":")
	e.template.Aliases = append(e.template.Aliases, Alias{Place: r.Place, Name: e.nameOf(r), Machine: machine})
}

// deployed returns the version that an alias with a deployment preference is for.
func (e *evaluator) deployed(r *resource) *document.Document {
	return e.value(r.properties.Get("DeploymentPreference")).Get("StateMachineVersionArn")
}

// aliasARN returns the ARN of an alias.
func (e *evaluator) aliasARN(r *resource) string {
	version := e.deployed(r)
	if routes := e.value(r.properties.Get("RoutingConfiguration")); len(items(routes)) > 0 {
		version = routes.Items[0].Get("StateMachineVersionArn")
	}
	machine, _, _ := strings.Cut(machineOf(e.say(version)), ":")
	return e.arn("states", "stateMachine:"+machine+":"+e.nameOf(r))
}

// addVersion adds a version.
func (e *evaluator) addVersion(r *resource) {
	e.template.Versions = append(e.template.Versions, Version{
		Place: r.Place, Machine: machineOf(e.says(r, "StateMachineArn")), Description: e.says(r, "Description"),
	})
}

// machineOf returns the name of the machine in an ARN, with a version or alias behind it; "" if it is no such ARN.
func machineOf(arn string) string {
	_, name, _ := strings.Cut(arn, ":stateMachine:")
	return name
}
