package rules_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/jsonschema"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// TestTakes says which messages a run refuses at the sender.
func TestTakes(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(awaited.Record{"approve": {Signal: "go", Value: jsonschema.Of(reflect.TypeFor[int]())}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(v any) atom.Value {
		value, err := atom.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	signal := func(name string, v any) *storage.Message {
		return &storage.Message{Kind: grow.MessageSignal, Name: name, Body: of(v)}
	}
	command := &storage.Message{Kind: backend.MessageCancel}
	awaits := of(json.RawMessage(text))
	for name, c := range map[string]struct {
		run     rules.Receiver
		message *storage.Message
		want    error
	}{
		"a signal that fits":              {rules.Receiver{Awaited: awaits}, signal("go", 4), nil},
		"a signal that does not":          {rules.Receiver{Awaited: awaits}, signal("go", "four"), storage.ErrInvalid},
		"an early signal of another kind": {rules.Receiver{Awaited: awaits}, signal("stop", "four"), nil},
		"a flow without a record":         {rules.Receiver{}, signal("go", "four"), nil},
		"a signal to a run that ended":    {rules.Receiver{State: states.FlowSuccess}, signal("go", 4), storage.ErrEnded},
		"a command to a run that ended":   {rules.Receiver{State: states.FlowSuccess}, command, nil},
		"a signal to a full inbox":        {rules.Receiver{Messages: backend.MaxInbox}, signal("go", 4), storage.ErrFull},
		"a command to a full inbox":       {rules.Receiver{Messages: backend.MaxInbox}, command, nil},
		"many bytes":                      {rules.Receiver{Bytes: backend.MaxInboxBytes}, signal("go", 4), storage.ErrFull},
		"a command after many bytes":      {rules.Receiver{Bytes: backend.MaxInboxBytes}, command, nil},
		"a command beyond the reserve":    {rules.Receiver{Messages: backend.MaxInbox * 11 / 10}, command, storage.ErrFull},
	} {
		if err := c.run.Takes(c.message); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestCheckResult checks the result of an atom, but not that of its revert.
func TestCheckResult(t *testing.T) {
	t.Parallel()
	of := func(v any) atom.Value {
		value, err := atom.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	record := of(awaited.Record{"ask": {Value: jsonschema.Of(reflect.TypeFor[int]())}})
	forward, revert := of(map[string]bool{}), of(map[string]bool{"revert": true})
	for name, c := range map[string]struct {
		work, record, result atom.Value
		want                 error
	}{
		"it fits":          {forward, record, of(4), nil},
		"it does not":      {forward, record, of("four"), storage.ErrInvalid},
		"of a revert":      {revert, record, of("four"), nil},
		"without a record": {forward, nil, of("four"), nil},
		"no result":        {forward, record, nil, nil}, // a number may be null
	} {
		if err := rules.CheckResult("r", "ask", c.work, c.record, c.result); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}
