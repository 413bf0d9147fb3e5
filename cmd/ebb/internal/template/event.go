package template

import (
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/eventpattern"
)

// A Rule starts an execution of a machine for each event that matches its pattern.
type Rule struct {
	document.Place

	Name    string
	Machine string // the name of the machine
	Pattern *eventpattern.Pattern
	Input   eventpattern.Input
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
			if !paused {
				e.rule(event.Place, Rule{Name: name, Machine: m.Name, Input: e.inputOf(p)}, p.Get("Pattern"))
			}
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
		if expression != "" {
			e.schedule(r.Place, Schedule{
				Name: e.nameOf(r), Machine: machine, Input: inputOr(input, e.scheduledEvent(e.nameOf(r))), Paused: paused,
			}, expression, "")
		}
		if pattern := e.property(r, "EventPattern"); pattern != nil && !paused {
			e.rule(r.Place, Rule{Name: e.nameOf(r), Machine: machine, Input: e.inputOf(target)}, pattern)
		}
	}
}

// inputOf returns what the target of a rule receives.
func (e *evaluator) inputOf(target *document.Document) eventpattern.Input {
	transformer := target.Get("InputTransformer")
	return eventpattern.Input{
		Text: strings.TrimSpace(e.say(target.Get("Input"))), Path: target.Get("InputPath").Says(),
		Paths: e.texts(transformer.Get("InputPathsMap")), Template: e.say(transformer.Get("InputTemplate")),
	}
}

// rule adds a rule, unless Ebb cannot express it.
func (e *evaluator) rule(at document.Place, r Rule, pattern *document.Document) {
	if r.Place = at; pattern == nil {
		e.problemf(at, "the rule %s has no pattern", r.Name)
		return
	}
	text, _ := pattern.Print()
	var err error
	if r.Pattern, err = eventpattern.Parse(text); err == nil {
		err = r.Input.Check()
	}
	if err != nil {
		e.warnf(at, "the rule %s is left out: %v", r.Name, err)
		return
	}
	e.template.Rules = append(e.template.Rules, r)
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
	if e.machines[name] {
		return name
	}
	for _, child := range e.nested {
		if child != nil && child.machineNamed(arn) != "" {
			return name
		}
	}
	return ""
}
