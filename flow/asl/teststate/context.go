package teststate

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// context returns the context object that the state sees.
func (t *Test) context(w *interpreter.Interpreter) (*data.Value, error) {
	if len(t.Context) > 0 {
		return t.givenContext(w)
	}
	tree := w.Context()
	set := func(object, name string, value any) {
		if of, ok := tree.Get(object); ok {
			if of, ok := of.(*jsontext.OrderedMap); ok {
				of.Set(name, value)
			}
		}
	}
	set("State", "Name", testedState)
	if err := t.setItem(w, tree); err != nil {
		return nil, err
	}
	if t.Attributes.RoleARN == "" {
		set("Execution", "RoleArn", nil)
	}
	return data.Tree(tree), nil
}

// givenContext returns the context object of the test, with the item of a state inside of a Map.
func (t *Test) givenContext(w *interpreter.Interpreter) (*data.Value, error) {
	given := data.Text(t.Context)
	if err := checkContext(t.Context, w.State); err != nil {
		return nil, err
	}
	tree, err := given.Decoded()
	if err != nil {
		return nil, invalidTest("Invalid Context object provided: " + err.Error())
	}
	object, ok := tree.(*jsontext.OrderedMap)
	if !ok {
		return given, nil
	}
	if err := t.setItem(w, object); err != nil {
		return nil, err
	}
	return data.Tree(object), nil
}

// setItem sets the item of a state inside of a Map: as on AWS that of the first iteration, which is the input.
// In a distributed Map it has a source, if that is the input of the Map.
func (t *Test) setItem(w *interpreter.Interpreter, context *jsontext.OrderedMap) error {
	around := t.mapAround(w)
	if around == nil {
		return nil
	}
	value, err := w.Input.Decoded()
	if err != nil {
		return err
	}
	item := jsontext.OrderedMapOf("Index", json.Number("0"), "Value", value)
	if d := around.Items.Distributed; d != nil && d.Reader == nil {
		item.Set("Source", interpreter.StateData)
	}
	context.Set("Map", jsontext.OrderedMapOf("Item", item))
	return nil
}

// mapAround returns the innermost Map state that the state is inside of; nil if there is none.
func (t *Test) mapAround(w *interpreter.Interpreter) (around *syntax.State) {
	if t.StateName == "" {
		return nil
	}
	for _, s := range w.Machine.States {
		if s.Kind == syntax.MapState && isAround(s, t.StateName) && (around == nil || isAround(around, s.Name)) {
			around = s
		}
	}
	return around
}

// contextFields lists the members of a context object that a test may set, with their types.
var contextFields = map[string]map[string]string{
	"Execution": {
		"Id": "string", "Input": "object", "Name": "string", "RoleArn": "string", "StartTime": "string",
		"RedriveCount": "integer", "RedriveTime": "string",
	},
	"State":        {"EnteredTime": "string", "Name": "string", "RetryCount": "integer"},
	"StateMachine": {"Id": "string", "Name": "string"},
	"Task":         {"Token": "string"},
}

// checkContext reports errors in a given context object.
func checkContext(context atom.Value, s *syntax.State) error {
	refuse := func(why string) error { return invalidTest("Invalid Context object provided: " + why) }
	var object map[string]json.RawMessage
	if err := json.Unmarshal(context.JSON(), &object); err != nil || object == nil {
		return refuse("it must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		fields, known := contextFields[name]
		switch {
		case name == "Map":
			return refuse("'Map' field is not supported when mocking a Context object")
		case !known:
			return refuse("Field '" + name + "' is not allowed")
		case name == "Task" && (s.Kind != syntax.TaskState || s.Task.Pattern == ""):
			return refuse("'Task' field is not supported when mocking a Context object for a state without a '.sync' or " +
				"'.waitForTaskToken' service integration pattern")
		case !isOf("object", object[name]):
			return refuse(name + " must be a object")
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(object[name], &members); err != nil {
			return refuse(name + " must be a object")
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			kind, known := fields[member]
			if !known {
				return refuse("Field '" + member + "' is not allowed")
			}
			if !isOf(kind, members[member]) {
				return refuse(name + "." + member + " must be a " + kind)
			}
		}
	}
	return nil
}

// isOf reports whether a member of a context object is of a type, or null.
func isOf(kind string, text json.RawMessage) bool {
	var into any
	switch kind {
	case "object":
		into = &map[string]json.RawMessage{}
	case "integer":
		into = new(int64)
	default:
		into = new(string)
	}
	return json.Unmarshal(text, into) == nil
}
