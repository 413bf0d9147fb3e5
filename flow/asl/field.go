package asl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Which fields a state may have follows from its type and its query language
// (asl.md, table a.2).

type queryLanguage uint8

const (
	jsonPath queryLanguage = 1 << iota
	jsonata
	both = jsonPath | jsonata
)

func (q queryLanguage) String() string {
	if q == jsonata {
		return "JSONata"
	}
	return "JSONPath"
}

// fieldSet says in which query languages each field is legal.
type fieldSet map[string]queryLanguage

// with returns the fields of both sets.
func (f fieldSet) with(others ...fieldSet) fieldSet {
	all := fieldSet{}
	for _, set := range append(others, f) {
		maps.Copy(all, set)
	}
	return all
}

var (
	machineFields = fieldSet{
		"Comment": both, "QueryLanguage": both, "StartAt": both, "States": both, "TimeoutSeconds": both, "Version": both,
	}
	branchFields    = fieldSet{"Comment": both, "StartAt": both, "States": both}
	processorFields = fieldSet{"ProcessorConfig": both}.with(branchFields)

	stateFields  = fieldSet{"Type": both, "Comment": both, "QueryLanguage": both}
	nextFields   = fieldSet{"Next": both, "End": both}
	dataFields   = fieldSet{"InputPath": jsonPath, "OutputPath": jsonPath, "Output": jsonata}
	errorFields  = fieldSet{"Retry": both, "Catch": both}
	resultFields = fieldSet{"Parameters": jsonPath, "ResultSelector": jsonPath, "ResultPath": jsonPath, "Arguments": jsonata, "Assign": both}

	fieldsOf = map[stateKind]fieldSet{
		passState: fieldSet{"Parameters": jsonPath, "ResultPath": jsonPath, "Result": jsonPath, "Assign": both}.
			with(stateFields, nextFields, dataFields),
		taskState: fieldSet{
			"Resource": both, "Credentials": both, "TimeoutSeconds": both, "TimeoutSecondsPath": jsonPath,
			"HeartbeatSeconds": both, "HeartbeatSecondsPath": jsonPath, "Revert": both,
		}.with(stateFields, nextFields, dataFields, resultFields, errorFields),
		choiceState: fieldSet{"Choices": both, "Default": both, "Assign": both}.with(stateFields, dataFields),
		waitState: fieldSet{"Seconds": both, "SecondsPath": jsonPath, "Timestamp": both, "TimestampPath": jsonPath, "Assign": both}.
			with(stateFields, nextFields, dataFields),
		succeedState:  stateFields.with(dataFields),
		failState:     fieldSet{"Error": both, "ErrorPath": jsonPath, "Cause": both, "CausePath": jsonPath}.with(stateFields),
		parallelState: fieldSet{"Branches": both}.with(stateFields, nextFields, dataFields, resultFields, errorFields),
		mapState: fieldSet{
			"Iterator": both, "ItemProcessor": both, "Items": jsonata, "ItemsPath": jsonPath, "ItemSelector": both,
			"MaxConcurrency": both, "MaxConcurrencyPath": jsonPath, "ItemReader": both, "ItemBatcher": both, "ResultWriter": both,
			"ToleratedFailureCount": both, "ToleratedFailureCountPath": jsonPath,
			"ToleratedFailurePercentage": both, "ToleratedFailurePercentagePath": jsonPath, "Label": both,
		}.with(stateFields, nextFields, dataFields, resultFields, errorFields),
	}

	retrierFields = fieldSet{
		"ErrorEquals": both, "IntervalSeconds": both, "MaxAttempts": both, "BackoffRate": both,
		"MaxDelaySeconds": both, "JitterStrategy": both, "Comment": both,
	}
	catcherFields     = fieldSet{"ErrorEquals": both, "Next": both, "ResultPath": jsonPath, "Assign": both, "Output": jsonata, "Comment": both}
	credentialsFields = fieldSet{"RoleArn": both, "RoleArn.$": jsonPath}
	revertFields      = fieldSet{"Resource": both, "Parameters": jsonPath}
	processorConfig   = fieldSet{"Mode": both, "ExecutionType": both}

	// allFields are the fields that mean something somewhere: out of place they
	// are errors, while unknown ones are merely warned of.
	allFields = func() fieldSet {
		all := machineFields.with(retrierFields, catcherFields, processorFields, fieldSet{"Choices": both, "Variable": both, "Condition": jsonata})
		for _, set := range fieldsOf {
			all = all.with(set)
		}
		return all
	}()
)

// fields reports the members of an object that have no place in it. The object
// is described by what, such as "a Pass state".
func (c *compiler) fields(n *node, what string, legal fieldSet) {
	for _, m := range n.members {
		q, ok := legal[m.name]
		switch {
		case ok && q&jsonPath != 0:
		case ok:
			c.add(Error, SchemaValidationFailed, m.value, m.at, "", "%s is for QueryLanguage %s", []any{m.name, q})
		case allFields[m.name] != 0:
			c.add(Error, SchemaValidationFailed, m.value, m.at, "", "%s is not supported in %s", []any{m.name, what})
		default:
			fix := ""
			if near := nearest(m.name, legal.names()); near != "" {
				fix = fmt.Sprintf("did you mean %s?", near)
			}
			c.add(Warning, SchemaValidationFailed, m.value, m.at, fix, "%s is no field of %s and is ignored", []any{cut(m.name), what})
		}
	}
}

func (f fieldSet) names() []string { return slices.Sorted(maps.Keys(f)) }

// one reports all but the first of those of the named fields that are there:
// they exclude each other. It returns the first.
func (c *compiler) one(n *node, names ...string) *node {
	var first *node
	for _, name := range names {
		field := n.get(name)
		switch {
		case field == nil:
		case first == nil:
			first = field
		default:
			c.schemaf(field, "only one of %s may be there", strings.Join(names, ", "))
		}
	}
	return first
}

// text returns a field that must be a string if it is there.
func (c *compiler) text(n *node, field string) (string, bool) {
	v := n.get(field)
	if v == nil {
		return "", false
	}
	if v.kind != stringNode {
		c.schemaf(v, "%s must be a string, found %s", field, v.kind)
		return "", false
	}
	return v.str, true
}

// queryLanguage returns the language an object sets, that of the whole machine
// if none.
func (c *compiler) queryLanguage(n *node) queryLanguage {
	v := n.get("QueryLanguage")
	switch {
	case v == nil:
		return c.language
	case v.kind == stringNode && v.str == "JSONPath":
		if c.language == jsonata {
			c.schemaf(n, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine")
		}
		return jsonPath
	case v.kind == stringNode && v.str == "JSONata":
		c.unsupported(v, "QueryLanguage JSONata")
		return jsonata
	}
	c.schemaf(v, `QueryLanguage must be "JSONPath" or "JSONata"`)
	return c.language
}
