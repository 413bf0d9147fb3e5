package interpreter

import (
	"encoding/json"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Attributes are asl.Attributes.
type Attributes struct {
	ExecutionID      string `json:"executionId,omitempty"`
	ExecutionName    string `json:"executionName,omitempty"`
	RoleARN          string `json:"roleArn,omitempty"`
	StateMachineID   string `json:"stateMachineId,omitempty"`
	StateMachineName string `json:"stateMachineName,omitempty"`
	Region           string `json:"region,omitempty"`
	Express          bool   `json:"express,omitempty"` // an Express execution, which cannot be redriven
	Map              string `json:"map,omitempty"`     // the distributed Map state one of whose items the run is
	MapRun           string `json:"mapRun,omitempty"`  // ARN of its map run
	Items            int    `json:"items,omitempty"`   // number of items that the run processes
	// Limited says that the execution ends where AWS ends it: a Standard one with the event MaxEvents or after a year,
	// an Express one after five minutes.
	Limited bool `json:"limited,omitempty"`
	// World is the beginning of the ARNs of the executions whose runs have plain IDs, see RunID; "" if all have them.
	World string `json:"world,omitempty"`
}

// attributes returns the run's attributes, completed.
func (w *surroundings) attributes() *Attributes {
	if w.attrs != nil {
		return w.attrs
	}
	run := w.Ask.Run
	a := &Attributes{}
	if err := run.Attributes.Decode(a); err != nil {
		*a = Attributes{} // another program wrote these attributes in a form of its own
	}
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&a.ExecutionID, run.ID)
	fill(&a.ExecutionName, run.ID)
	fill(&a.StateMachineName, run.Flow)
	fill(&a.StateMachineID, a.StateMachineName)
	fill(&a.Region, "us-east-1")
	w.attrs = a
	return a
}

// handedOn returns the attributes of a run that this one starts: those of this run, except the ones named in but, and
// over them own.
func (w *surroundings) handedOn(own *Attributes, but ...string) atom.Value {
	all := map[string]json.RawMessage{}
	_ = w.Ask.Run.Attributes.Decode(&all) // attributes that are not a JSON object were not meant for this language
	for _, name := range but {
		delete(all, name)
	}
	_ = atom.MustEncode(own).Decode(&all)
	return atom.MustEncode(all)
}

// Context returns the context object, $$.
func (w *surroundings) Context() *jsontext.OrderedMap {
	if w.ctx == nil && w.Given != nil {
		if tree, err := w.Given.Decoded(); err == nil {
			w.ctx, _ = tree.(*jsontext.OrderedMap)
		}
	}
	if w.ctx == nil {
		w.ctx = w.contextOf(func(d *data.Value) any {
			if tree, err := d.Decoded(); err == nil {
				return tree
			}
			return &jsontext.OrderedMap{}
		})
	}
	return w.ctx
}

// ContextQuery returns the context object for JSONata, $states.context.
func (w *surroundings) ContextQuery() (jsonata.Value, *stateerror.Error) {
	switch {
	case w.parts != nil:
		return valueOf(w.parts)
	case w.Given != nil:
		return w.Given.Query()
	}
	if w.ctxQuery == nil {
		value, f := valueOf(w.contextOf(func(d *data.Value) any { return d }))
		if f != nil {
			return value, f
		}
		w.ctxQuery = data.Query(value)
	}
	return w.ctxQuery.Value, nil
}

// valueOf converts a tree, which may contain data, to a value for JSONata.
func valueOf(tree any) (jsonata.Value, *stateerror.Error) {
	switch v := tree.(type) {
	case *data.Value:
		return v.Query()
	case *jsontext.OrderedMap:
		members := make([]jsonata.Member, 0, v.Len())
		for name, member := range v.All() {
			value, f := valueOf(member)
			if f != nil {
				return value, f
			}
			members = append(members, jsonata.Member{Name: name, Value: value})
		}
		return jsonata.ObjectOf(members...), nil
	default:
		return data.Tree(tree).Query()
	}
}

// contextOf returns the context object. leaf converts the data that the object contains.
func (w *surroundings) contextOf(leaf func(*data.Value) any) *jsontext.OrderedMap {
	a := w.attributes()
	if w.runInput == nil {
		if w.runInput = data.EmptyObject; len(w.Ask.Run.Input) > 0 {
			w.runInput = data.Text(w.Ask.Run.Input)
		}
	}
	execution := jsontext.OrderedMapOf(
		"Id", a.ExecutionID, "Input", leaf(w.runInput), "Name", a.ExecutionName, "RoleArn", a.RoleARN, "StartTime",
		contextTime(w.Ask.Run.Started),
	)
	if !a.Express {
		execution.Set("RedriveCount", data.Number(int64(w.Ask.Run.Reopens)))
		if w.Ask.Run.Reopens > 0 {
			execution.Set("RedriveTime", contextTime(w.Ask.Run.Reopened))
		}
	}
	ctx := jsontext.OrderedMapOf("Execution", execution, "StateMachine", jsontext.OrderedMapOf("Id", a.StateMachineID,
		"Name", a.StateMachineName))
	if w.State != nil {
		state := jsontext.OrderedMapOf("Name", w.State.Name, "EnteredTime", contextTime(w.EnteredAt))
		switch w.State.Kind {
		case syntax.TaskState, syntax.ParallelState, syntax.MapState:
			state.Set("RetryCount", data.Number(int64(w.retries())))
		default: // other states are not retried
		}
		ctx.Set("State", state)
	}
	if w.token != "" && w.State != nil && w.State.Task.Pattern != "" {
		ctx.Set("Task", jsontext.OrderedMapOf("Token", w.token))
	}
	if item := w.mapContext(leaf); item != nil {
		ctx.Set("Map", item)
	}
	return ctx
}

// retries returns how often the visited state was retried.
func (w *surroundings) retries() int {
	n := 0
	for _, tries := range w.Tries {
		n += tries
	}
	return n
}

// mapContext returns the Map part of the context object; nil outside of Maps.
func (w *surroundings) mapContext(leaf func(*data.Value) any) any {
	if w.taking != nil {
		return w.taking.context(leaf)
	}
	group := w.outer()
	if group.items == nil {
		if group.item == nil {
			return nil
		}
		return leaf(group.item)
	}
	if w.mapItem == nil {
		item, ok := group.element(w.Ask.Index)
		if !ok {
			return nil
		}
		w.mapItem = data.Text(item)
	}
	return jsontext.OrderedMapOf("Item", jsontext.OrderedMapOf("Index", data.Number(int64(w.Ask.Index)), "Value",
		leaf(w.mapItem)))
}

// contextTime returns a time in the form of the context object.
func contextTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
