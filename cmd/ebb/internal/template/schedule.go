package template

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// A Schedule starts executions of a machine.
type Schedule struct {
	document.Place

	Name    string
	Machine string // the name of the machine
	Spec    string // as [jobs.Schedule] has it, with its zone
	Input   string // JSON
	Paused  bool
}

// schedule adds a schedule, unless Ebb cannot express when it ticks.
func (e *evaluator) schedule(at document.Place, s Schedule, expression, zone string) {
	spec, err := spec(expression)
	if err != nil {
		e.warnf(at, "the schedule %s is left out: %v", s.Name, err)
		return
	}
	if s.Spec = spec; zone != "" && zone != "UTC" {
		s.Spec = "TZ=" + zone + " " + spec
	}
	s.Place = at
	e.template.Schedules = append(e.template.Schedules, s)
}

// addSchedule adds a schedule of EventBridge Scheduler.
func (e *evaluator) addSchedule(r *resource) {
	target := e.property(r, "Target")
	arn, input := e.say(target.Get("Arn")), e.say(target.Get("Input"))
	if strings.HasSuffix(arn, ":scheduler:::aws-sdk:sfn:startExecution") {
		var call struct {
			StateMachineArn string `json:"StateMachineArn"`
			Input           string `json:"Input"`
		}
		if json.Unmarshal([]byte(input), &call) == nil {
			arn, input = call.StateMachineArn, call.Input
		}
	}
	machine := e.machineNamed(arn)
	if machine == "" {
		return // it is for something else
	}
	e.schedule(r.Place, Schedule{
		Name: e.nameOf(r), Machine: machine, Input: inputOr(input, "{}"), Paused: e.says(r, "State") == "DISABLED",
	}, e.says(r, "ScheduleExpression"), e.says(r, "ScheduleExpressionTimezone"))
}

// inputOr returns an input, or what AWS takes in place of none.
func inputOr(input, usual string) string {
	if strings.TrimSpace(input) == "" {
		return usual
	}
	return input
}

// scheduledEvent is the input that a rule gives without an Input. Its id and time are those of the execution.
func (e *evaluator) scheduledEvent(rule string) string {
	d := &document.Document{Kind: document.Object}
	add := func(name string, value *document.Document) {
		d.Members = append(d.Members, document.Member{Name: name, Value: value})
	}
	s := func(value string) *document.Document { return &document.Document{Kind: document.Text, Text: value} }
	add("version", s("0"))
	add("detail-type", s("Scheduled Event"))
	add("source", s("aws.events"))
	add("account", s(e.options.Account))
	add("region", s(e.options.Region))
	add("resources", &document.Document{
		Kind: document.List, Items: []*document.Document{s(e.arn("events", "rule/"+rule))},
	})
	add("detail", &document.Document{Kind: document.Object})
	printed, _ := d.Print()
	return strings.ReplaceAll(string(printed), "\n", "")
}

// spec returns an expression of AWS as that of a schedule of jobs.
func spec(expression string) (string, error) {
	kind, in, ok := strings.Cut(strings.TrimSpace(expression), "(")
	in, closed := strings.CutSuffix(in, ")")
	switch {
	case ok && closed && kind == "rate":
		return rate(in)
	case ok && closed && kind == "cron":
		return cron(in)
	case ok && closed && kind == "at":
		return "", fmt.Errorf("%s is a single time: use ebb post --after", expression)
	}
	return "", fmt.Errorf("%q is neither rate(…) nor cron(…)", expression)
}

// rate returns a rate, such as 5 minutes.
func rate(in string) (string, error) {
	number, unit, _ := strings.Cut(strings.TrimSpace(in), " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 100_000 {
		return "", fmt.Errorf("rate(%s) is not valid", in)
	}
	switch strings.TrimSuffix(strings.TrimSpace(unit), "s") {
	case "minute":
		return fmt.Sprintf("@every %dm", n), nil
	case "hour":
		return fmt.Sprintf("@every %dh", n), nil
	case "day":
		return fmt.Sprintf("@every %dh", 24*n), nil
	}
	return "", fmt.Errorf("rate(%s) is not valid", in)
}

// cron returns the six fields of AWS as the five of crontab: without the year, and with Sunday as 0.
func cron(in string) (string, error) {
	fields := strings.Fields(in)
	if len(fields) != 6 {
		return "", fmt.Errorf("cron(%s) has %d fields, not 6", in, len(fields))
	}
	for i, field := range fields {
		if strings.ContainsAny(field, "#") || i == 2 && strings.ContainsAny(field, "LW") ||
			i == 4 && strings.HasSuffix(field, "L") {
			return "", fmt.Errorf("cron(%s): %s cannot be expressed in Ebb", in, field)
		}
	}
	if fields[5] != "*" && fields[5] != "?" {
		return "", fmt.Errorf("cron(%s): years cannot be expressed in Ebb", in)
	}
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], "?", "*")
	}
	fields[4] = weekdays(fields[4])
	return strings.Join(fields[:5], " "), nil
}

// weekdays returns days of the week with Sunday as 0, where AWS has 1. Steps, behind a slash, stay.
func weekdays(field string) string {
	parts := strings.Split(field, ",")
	for i, part := range parts {
		days, step, stepped := strings.Cut(part, "/")
		ends := strings.Split(days, "-")
		for j := range ends {
			if n, err := strconv.Atoi(ends[j]); err == nil && n >= 1 {
				ends[j] = strconv.Itoa(n - 1)
			}
		}
		if parts[i] = strings.Join(ends, "-"); stepped {
			parts[i] += "/" + step
		}
	}
	return strings.Join(parts, ",")
}
