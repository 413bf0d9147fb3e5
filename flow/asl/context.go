package asl

import "time"

// Attributes is what a machine's context object and history tell about a run
// besides its id. Whoever starts a run encodes it into [flow.Run.Attributes];
// what is left empty has a sensible value made of the run's id and the flow's
// name.
type Attributes struct {
	ExecutionID      string `json:"executionId,omitempty"`
	ExecutionName    string `json:"executionName,omitempty"`
	RoleARN          string `json:"roleArn,omitempty"`
	StateMachineID   string `json:"stateMachineId,omitempty"`
	StateMachineName string `json:"stateMachineName,omitempty"`
	Region           string `json:"region,omitempty"`
	Express          bool   `json:"express,omitempty"` // an Express execution, which cannot be redriven
}

// attributes returns the run's attributes, completed.
func (w *walk) attributes() *Attributes {
	if w.attrs != nil {
		return w.attrs
	}
	run := w.ask.Run
	a := &Attributes{}
	if err := run.Attributes.Decode(a); err != nil {
		*a = Attributes{} // written by somebody else for somebody else
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

// context returns the context object, $$.
func (w *walk) context() map[string]any {
	if w.ctx != nil {
		return w.ctx
	}
	a := w.attributes()
	execution := map[string]any{
		"Id": a.ExecutionID, "Name": a.ExecutionName, "RoleArn": a.RoleARN,
		"StartTime": contextTime(w.ask.Run.Started), "Input": map[string]any{},
	}
	if !a.Express {
		execution["RedriveCount"] = number(0)
	}
	if len(w.ask.Run.Input) > 0 {
		if input, err := textDatum(w.ask.Run.Input).value(); err == nil {
			execution["Input"] = input
		}
	}
	w.ctx = map[string]any{
		"Execution":    execution,
		"StateMachine": map[string]any{"Id": a.StateMachineID, "Name": a.StateMachineName},
	}
	if w.state != nil {
		state := map[string]any{"Name": w.state.name, "EnteredTime": contextTime(w.enteredAt)}
		switch w.state.kind {
		case taskState, parallelState, mapState:
			state["RetryCount"] = number(int64(w.retries()))
		default: // the others are not tried again
		}
		w.ctx["State"] = state
	}
	if item := w.mapContext(); item != nil {
		if tree, err := item.value(); err == nil {
			w.ctx["Map"] = tree
		}
	}
	return w.ctx
}

// retries returns how often the visited state was tried again.
func (w *walk) retries() int {
	n := 0
	for _, tries := range w.tries {
		n += tries
	}
	return n
}

// mapContext returns the Map part of the context object, nil outside of Maps.
func (w *walk) mapContext() *datum {
	group := w.outer()
	if group.items == nil {
		return group.item
	}
	item, ok := group.items.encoded().Index(w.ask.Index)
	if !ok {
		return nil
	}
	value, err := textDatum(item).value()
	if err != nil {
		return nil
	}
	return treeDatum(map[string]any{"Item": map[string]any{"Index": number(int64(w.ask.Index)), "Value": value}})
}

// contextTime is how the context object writes a time.
func contextTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
