package sm4c_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestConformanceSM4CLanguage runs the recorded cases through the language alone,
// in virtual time.
func TestConformanceSM4CLanguage(t *testing.T) {
	t.Parallel()
	conformance.ForFiles(t, "sm4c", func(t *testing.T, file string) {
		aspects := conformance.NewAspects(file)
		for _, c := range conformance.MachineCases(t, file) {
			aspects.CountMachine(c, play(t, c))
		}
		aspects.Print(t)
		for _, aspect := range conformance.MachineAspects {
			aspects.Demand(t, aspect, 1)
		}
	})
}

// parseCase compiles a definition of a case.
func parseCase(c *conformance.MachineCase, name string, definition []byte) (*sm4c.Machine, error) {
	opts := []sm4c.Option{sm4c.Load(func(uri string) ([]byte, error) {
		if doc, ok := c.Resources[uri]; ok {
			return doc, nil
		}
		return nil, errors.New("there is no such document")
	})}
	if c.Options.WaitDefault {
		opts = append(opts, sm4c.WaitDefault())
	}
	return sm4c.Parse(name, definition, opts...)
}

const rootRun, rootFlow = "run", "(root)"

// play runs a case and returns how it ended.
func play(t *testing.T, c *conformance.MachineCase) *conformance.MachineEnd {
	t.Helper()
	got := &conformance.MachineEnd{Sent: []conformance.SentEvent{}, Trace: []string{}}
	fail := func(code, message string) *conformance.MachineEnd {
		got.Status = "failed"
		got.Error = &struct {
			Code    string
			Message *string
		}{code, &message}
		return got
	}
	machine, err := parseCase(c, rootFlow, c.Definition)
	if err != nil {
		return fail("SM4C.Definition", err.Error())
	}
	flows := map[string]grow.Language{rootFlow: machine}
	names := map[string]string{}
	for _, f := range machine.Functions() {
		names[f.Task] = f.Name
	}
	for name, definition := range c.Subflows {
		sub, err := parseCase(c, name, definition)
		if err != nil {
			return fail("SM4C.Definition", err.Error())
		}
		flows[name] = sub
		for _, f := range sub.Functions() {
			names[f.Task] = f.Name
		}
	}
	replies := c.Replies()
	w := newWorld(flows)
	w.sent = func(m grow.Message) {
		e, err := conformance.SentEventOf(m.Body.JSON())
		if err != nil {
			w.brokenf("%v", err)
		}
		got.Sent = append(got.Sent, e)
	}
	var root *simRun
	w.task = func(call call) answer {
		reply, ok := replies.Take(names[call.task], call.input.JSON())
		if !ok {
			return answer{failure: &atom.Failure{Code: "NoReply", Message: "no reply is left for " + call.task + call.input.String()}}
		}
		return scripted(w, root, reply)
	}
	var input atom.Value
	if c.Input != nil {
		input = atom.FromJSON(c.Input)
	}
	root = w.start(rootRun, rootFlow, input, nil)
	for _, d := range c.Events {
		if d.AtStart {
			w.tell(root, grow.MessageEvent, "", d.Event)
			continue
		}
		w.at(epoch.Add(time.Duration(d.AfterMS)*time.Millisecond), func() { w.tell(root, grow.MessageEvent, "", d.Event) })
	}
	w.live()
	if w.fault != nil {
		t.Errorf("%s: %v", c.Name, w.fault)
		return fail("contract broken", w.fault.Error())
	}
	got.Trace, got.Calls = root.trace(), replies.Calls()
	if root.end == nil {
		got.Status = "waiting"
		waits, err := machine.Why(root.top.memory)
		if err != nil {
			t.Fatal(err)
		}
		got.State, got.Data = waits.State, waits.Data
		return got
	}
	elapsed := root.endedAt.Sub(epoch).Milliseconds()
	got.Elapsed = &elapsed
	switch f := root.end.Failure; {
	case root.end.TimedOut:
		got.Status = "timed_out"
	case f != nil:
		return fail(f.Code, f.Message)
	default:
		got.Status, got.Output = "completed", root.end.Value.JSON()
	}
	return got
}

// scripted turns a reply into an answer.
func scripted(w *world, root *simRun, reply *conformance.Reply) answer {
	a := answer{after: reply.After(), output: string(reply.Result), then: func() {
		for _, e := range reply.Emit {
			w.tell(root, grow.MessageEvent, "", e)
		}
	}}
	if reply.Error != nil {
		a.failure = failureOf(reply.Error)
	} else if a.output == "" {
		a.output = "null"
	}
	return a
}

// failureOf turns a scripted error into the failure that a task would give.
func failureOf(text json.RawMessage) *atom.Failure {
	var known struct{ Type, Message string }
	var all map[string]any
	if err := errors.Join(json.Unmarshal(text, &known), json.Unmarshal(text, &all)); err != nil {
		return &atom.Failure{Code: "BadScript", Message: err.Error()}
	}
	delete(all, "type")
	delete(all, "message")
	f := &atom.Failure{Code: known.Type, Message: known.Message}
	if known.Type == "" {
		f.Code = "Error"
	}
	if len(all) > 0 {
		f.Details = atom.MustEncode(all)
	}
	return f
}
