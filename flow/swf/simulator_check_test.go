package swf_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// record appends events, and compares each with the table.
func (r *simRun) record(g *grow.Growth) {
	w := r.world
	w.t.Helper()
	wanted := false
	for i := range g.Events {
		e := &g.Events[i]
		scheduled := r.fold.Counts().OpenDecisionTasks
		if err := r.fold.Add(e); err != nil {
			w.t.Fatal(err, "\n", r.story())
		}
		r.events, r.times = append(r.events, *e), append(r.times, w.now)
		r.checkEvent(e)
		entry := history.ByType(e.Type)
		wanted = wanted || entry.Schedules != history.Never
		if strings.Contains(e.Details.String(), "UNHANDLED_DECISION") && scheduled == 0 {
			w.t.Fatalf("%s, but no decision task is scheduled\n%s", e.Type, r.story())
		}
		if entry.Closes && (i < len(g.Events)-1 || g.End == nil) {
			w.t.Fatalf("%s is not the end", e.Type)
		}
	}
	if wanted && g.End == nil {
		if c := r.fold.Counts(); c.OpenDecisionTasks == 0 {
			w.t.Fatalf("no decision task is scheduled\n%s", r.story())
		}
	}
}

// checkEvent compares the attributes of the last event with the table.
func (r *simRun) checkEvent(e *grow.Event) {
	t := r.world.t
	t.Helper()
	seen.note(t, e)
	var a map[string]json.RawMessage
	if err := e.Details.Decode(&a); err != nil {
		t.Fatalf("%s: %v", e.Type, err)
	}
	for _, attribute := range history.ByType(e.Type).Attributes {
		raw, there := a[attribute.Name]
		delete(a, attribute.Name)
		if !there {
			if attribute.Required {
				t.Fatalf("%s lacks %s: %s", e.Type, attribute.Name, e.Details)
			}
			continue
		}
		var text string
		var n int64
		var object map[string]string
		var list []string
		var err error
		switch attribute.Kind {
		case history.Text:
			err = json.Unmarshal(raw, &text)
		case history.Ref:
			if err = json.Unmarshal(raw, &n); err == nil && !attribute.Foreign {
				r.checkRef(e, &attribute, n)
			}
		case history.Tags:
			err = json.Unmarshal(raw, &list)
		default:
			err = json.Unmarshal(raw, &object)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", e.Type, attribute.Name, err)
		}
	}
	for name := range a {
		t.Fatalf("%s: the attribute %s is not in the table", e.Type, name)
	}
}

func (r *simRun) checkRef(e *grow.Event, a *history.Attribute, n int64) {
	t := r.world.t
	t.Helper()
	switch {
	case n == 0 && a.Zero:
	case n < 1 || n >= int64(len(r.events)):
		t.Fatalf("%s: %s is %d, of %d events", e.Type, a.Name, n, len(r.events))
	case r.events[n-1].Type != a.To:
		t.Fatalf("%s: %s is a %s, not a %s\n%s", e.Type, a.Name, r.events[n-1].Type, a.To, r.story())
	}
}

// check compares the run with its history: closed or not, open counts, and the nodes.
func (r *simRun) check() {
	t := r.world.t
	t.Helper()
	d, err := swf.Describe(r.memory)
	if err != nil {
		t.Fatal(err)
	}
	counts := r.fold.Counts()
	if d.OpenCounts != counts || (r.end != nil) != r.fold.Closed {
		t.Fatalf("the memory has %+v, the events have %+v; closed: %t, %t\n%s", d.OpenCounts, counts, r.end != nil, r.fold.Closed, r.story())
	}
	nodes := map[grow.Kind]int{}
	work := 0
	for _, n := range r.open {
		nodes[n.spec.Kind]++
		if n.spec.Kind == grow.Work && n.spec.Task == swf.LambdaTask {
			work++
		}
	}
	timeouts := 0
	if nodes[grow.Timer] > counts.OpenTimers {
		timeouts = 1
	}
	if r.end == nil && len(r.open) == 0 && !r.listen {
		t.Fatalf("there is nothing to wait for\n%s", r.story())
	}
	if r.end == nil && (nodes[grow.Timer] != counts.OpenTimers+timeouts || nodes[grow.Nested] != counts.OpenChildWorkflowExecutions ||
		work != counts.OpenLambdaFunctions || nodes[grow.Work]-work != counts.OpenActivityTasks+counts.OpenDecisionTasks) {
		t.Fatalf("the nodes are %v, the events have %+v\n%s", nodes, counts, r.story())
	}
}

// story returns the history for people.
func (r *simRun) story() (s string) {
	for i, e := range r.events {
		s += fmt.Sprintf("%4d %v %s %s\n", i+1, r.times[i].Sub(epoch), e.Type, e.Details)
	}
	return s
}

// types returns the types of the events, from an event on.
func (r *simRun) types(from int) (types []string) {
	for _, e := range r.events[from-1:] {
		types = append(types, e.Type)
	}
	return types
}
