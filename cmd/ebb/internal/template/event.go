package template

import (
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// A Rule starts an execution of a machine for each event that matches its pattern.
type Rule struct {
	document.Place

	Name    string
	Machine string // the name of the machine
	Pattern *document.Document
	Input   string // JSON; "" for the event itself, or the part of it at InputPath
	Path    string
}

// addEvents adds the events that start executions of a machine of SAM.
func (e *evaluator) addEvents(r *resource, m *Machine) {
	for _, event := range members(e.property(r, "Events")) {
		p := or(event.Value.Get("Properties"), &document.Document{})
		name := or(p.Get("Name"), text(event.Value, r.id+event.Name)).Text
		paused := strings.EqualFold(or(p.Get("State"), p).Text, "DISABLED") || or(p.Get("Enabled"), p).Text == "false"
		input := e.say(p.Get("Input"))
		switch kind := event.Value.Get("Type").Says(); kind {
		case "Schedule":
			e.schedule(event.Place, Schedule{
				Name: name, Machine: m.Name, Input: inputOr(input, e.scheduledEvent(name)), Paused: paused,
			}, e.say(p.Get("Schedule")), "")
		case "ScheduleV2":
			e.schedule(event.Place, Schedule{Name: name, Machine: m.Name, Input: inputOr(input, "{}"), Paused: paused},
				e.say(p.Get("ScheduleExpression")), e.say(p.Get("ScheduleExpressionTimezone")))
		case "EventBridgeRule", "CloudWatchEvent":
			e.rule(event.Place, Rule{
				Name: name, Machine: m.Name, Pattern: p.Get("Pattern"), Input: input, Path: p.Get("InputPath").Says(),
			}, paused)
		default:
			e.warnf(event.Place, "%s of %s is left out: Ebb has no events of type %s; start executions by StartExecution",
				event.Name, r.id, kind)
		}
	}
}

// addRule adds the targets of a rule of EventBridge that are machines.
func (e *evaluator) addRule(r *resource) {
	expression := e.says(r, "ScheduleExpression")
	paused := e.says(r, "State") == "DISABLED"
	for _, target := range items(e.property(r, "Targets")) {
		machine, input := e.machineNamed(e.say(target.Get("Arn"))), e.say(target.Get("Input"))
		if machine == "" {
			continue
		}
		if target.Get("InputTransformer") != nil {
			e.warnf(target.Place, "InputTransformer of the rule %s is not supported: the input is the whole event", r.id)
		}
		if expression != "" {
			e.schedule(r.Place, Schedule{
				Name: e.nameOf(r), Machine: machine, Input: inputOr(input, e.scheduledEvent(e.nameOf(r))), Paused: paused,
			}, expression, "")
		}
		if pattern := e.property(r, "EventPattern"); pattern != nil {
			e.rule(r.Place, Rule{
				Name: e.nameOf(r), Machine: machine, Pattern: pattern, Input: input, Path: target.Get("InputPath").Says(),
			}, paused)
		}
	}
}

// rule adds a rule, unless it is disabled.
func (e *evaluator) rule(at document.Place, r Rule, paused bool) {
	if r.Place = at; r.Pattern == nil {
		e.problemf(at, "the rule %s has no pattern", r.Name)
		return
	}
	if !paused {
		e.template.Rules = append(e.template.Rules, r)
	}
}

// machineNamed returns the name of a machine of the template with an ARN, also that of a version or alias; "" if there
// is none.
func (e *evaluator) machineNamed(arn string) string {
	name, _, _ := strings.Cut(machineOf(arn), ":")
	if e.machines == nil {
		e.machines = map[string]bool{}
		for _, r := range e.resources {
			if r.kind == "AWS::StepFunctions::StateMachine" || r.kind == "AWS::Serverless::StateMachine" {
				e.machines[e.nameOf(r)] = true
			}
		}
	}
	if !e.machines[name] {
		return ""
	}
	return name
}
