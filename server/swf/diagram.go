package swf

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/states"
)

// maxPicture is the most nodes of a picture of an execution.
const maxPicture = 2000

// ErrManyNodes is the error of [Picture] for an execution with too many nodes for a diagram.
var ErrManyNodes = errors.New("the execution has over " + strconv.Itoa(maxPicture) + " tasks, timers and signals")

// pictureOf returns the diagram of an execution by its events: its decisions, what each decision caused (activities,
// timers, children, signals, functions, markers), and what made the decider decide again. It ends with the first error
// of the events.
func pictureOf(title string, events iter.Seq2[swf.NumberedEvent, error]) (draw.View, error) {
	p := &picture{view: draw.View{Title: title}, nodes: map[int64]int{}}
	for e, err := range events {
		if err != nil {
			return draw.View{}, err
		}
		p.attributes = nil
		if err := e.Details.Decode(&p.attributes); err != nil {
			return draw.View{}, fmt.Errorf("event %d: %w", e.Number, err)
		}
		p.add(&e)
		if len(p.view.Nodes) > maxPicture {
			return draw.View{}, ErrManyNodes
		}
	}
	return p.view, nil
}

// A picture is a diagram while it is put together.
type picture struct {
	view       draw.View
	nodes      map[int64]int // index of the node of an event
	seen       []string      // nodes of which the next decision learns
	decision   int64         // the event of the last decision task that was completed
	attributes map[string]json.RawMessage
}

// A drawing says what an event is in the diagram: the beginning of a node, or a change of one.
type drawing struct {
	kind draw.Kind
	name string      // attribute that names the node; "" if the event changes a node
	word string      // before the name
	ref  string      // attribute with the event of the node that is changed
	to   states.Task // what became of the node
}

// closingEvents are the events that close an execution.
var closingEvents = []string{
	"WorkflowExecutionCompleted", "WorkflowExecutionFailed", "WorkflowExecutionCanceled", "WorkflowExecutionTerminated",
	"WorkflowExecutionTimedOut", "WorkflowExecutionContinuedAsNew",
}

// decidedBy is the attribute of an event that a decision caused.
const decidedBy = "decisionTaskCompletedEventId"

const (
	byScheduled = "scheduledEventId"
	byStarted   = "startedEventId"
	byInitiated = "initiatedEventId"
)

const (
	running  = states.TaskRunning
	finished = states.TaskSuccess
	compute  = draw.Compute
)

// drawings has the events that are in the diagram, except those of decisions, of the start and of the end.
var drawings = map[string]drawing{
	"ActivityTaskScheduled":                           {name: "activityId", to: running},
	"TimerStarted":                                    {name: "timerId", kind: draw.Wait, to: running},
	"StartChildWorkflowExecutionInitiated":            {name: "workflowId", word: "child ", to: running},
	"LambdaFunctionScheduled":                         {name: "id", word: "function ", to: running},
	"SignalExternalWorkflowExecutionInitiated":        {name: "workflowId", word: "signals ", kind: compute, to: running},
	"RequestCancelExternalWorkflowExecutionInitiated": {name: "workflowId", word: "cancel ", kind: compute, to: running},
	"MarkerRecorded":                                  {name: "markerName", word: "marker ", kind: compute, to: finished},
	"WorkflowExecutionSignaled":                       {name: "signalName", word: "signal ", kind: compute, to: finished},
	"WorkflowExecutionCancelRequested":                {name: "cause", word: "to cancel ", kind: compute, to: finished},

	"ActivityTaskCompleted":                        {ref: byScheduled, to: finished},
	"ActivityTaskFailed":                           {ref: byScheduled, to: states.TaskFailure},
	"ActivityTaskTimedOut":                         {ref: byScheduled, to: states.TaskFailure},
	"ActivityTaskCanceled":                         {ref: byScheduled, to: states.TaskCancelled},
	"TimerFired":                                   {ref: byStarted, to: finished},
	"TimerCanceled":                                {ref: byStarted, to: states.TaskCancelled},
	"ChildWorkflowExecutionCompleted":              {ref: byInitiated, to: finished},
	"ChildWorkflowExecutionFailed":                 {ref: byInitiated, to: states.TaskFailure},
	"ChildWorkflowExecutionTimedOut":               {ref: byInitiated, to: states.TaskFailure},
	"ChildWorkflowExecutionTerminated":             {ref: byInitiated, to: states.TaskCancelled},
	"ChildWorkflowExecutionCanceled":               {ref: byInitiated, to: states.TaskCancelled},
	"StartChildWorkflowExecutionFailed":            {ref: byInitiated, to: states.TaskFailure},
	"ExternalWorkflowExecutionSignaled":            {ref: byInitiated, to: finished},
	"SignalExternalWorkflowExecutionFailed":        {ref: byInitiated, to: states.TaskFailure},
	"ExternalWorkflowExecutionCancelRequested":     {ref: byInitiated, to: finished},
	"RequestCancelExternalWorkflowExecutionFailed": {ref: byInitiated, to: states.TaskFailure},
	"LambdaFunctionCompleted":                      {ref: byScheduled, to: finished},
	"LambdaFunctionFailed":                         {ref: byScheduled, to: states.TaskFailure},
	"LambdaFunctionTimedOut":                       {ref: byScheduled, to: states.TaskFailure},
	"StartLambdaFunctionFailed":                    {ref: byScheduled, to: states.TaskFailure},
}

func (p *picture) add(e *swf.NumberedEvent) {
	d, drawn := drawings[e.Type]
	switch {
	case e.Type == "WorkflowExecutionStarted":
		p.node(e.Number, draw.Node{Label: "start", Kind: draw.Start})
		p.learn(e.Number)
	case e.Type == "DecisionTaskScheduled":
		p.node(e.Number, draw.Node{
			Label: fmt.Sprintf("decision %d", e.Number), Kind: draw.Choice,
			Path: swf.NodeName(swf.DecisionNode, e.Number),
		})
	case e.Type == "DecisionTaskStarted":
		p.decide(p.ref(byScheduled))
	case e.Type == "DecisionTaskCompleted":
		p.decision = p.ref(byScheduled)
		p.state(p.decision, states.TaskSuccess)
	case e.Type == "DecisionTaskTimedOut":
		p.state(p.ref(byScheduled), states.TaskFailure)
		p.learn(p.ref(byScheduled))
	case slices.Contains(closingEvents, e.Type):
		p.end(e)
	case drawn && d.name != "":
		n := draw.Node{Label: d.word + p.text(d.name), Kind: d.kind, State: d.to.String()}
		if d.kind != compute { // what only computes has no atom
			n.Path = swf.NodeName(p.text(d.name), e.Number)
		}
		p.node(e.Number, n)
		if _, decided := p.attributes[decidedBy]; decided {
			p.edge(p.id(p.decision), p.id(e.Number))
		} else {
			p.learn(e.Number)
		}
	case drawn:
		p.state(p.ref(d.ref), d.to)
		if e.Type != "TimerCanceled" {
			p.learn(p.ref(d.ref))
		}
	}
}

// end adds the closing event. A decision led to it, or what came from outside.
func (p *picture) end(e *swf.NumberedEvent) {
	state := states.TaskFailure
	if e.Type == "WorkflowExecutionCompleted" || e.Type == "WorkflowExecutionContinuedAsNew" {
		state = states.TaskSuccess
	}
	p.node(e.Number, draw.Node{Label: e.Type, Kind: draw.End, State: state.String()})
	if _, decided := p.attributes[decidedBy]; decided {
		p.edge(p.id(p.decision), p.id(e.Number))
		return
	}
	for _, i := range p.nodes {
		if n := &p.view.Nodes[i]; n.State == states.TaskRunning.String() {
			n.State = states.TaskCancelled.String()
		}
	}
}

func (p *picture) id(event int64) string { return "event " + strconv.FormatInt(event, 10) }

func (p *picture) node(event int64, n draw.Node) {
	n.ID = p.id(event)
	p.nodes[event] = len(p.view.Nodes)
	p.view.Nodes = append(p.view.Nodes, n)
}

func (p *picture) edge(from, to string) {
	p.view.Edges = append(p.view.Edges, draw.Edge{From: from, To: to, Taken: true})
}

func (p *picture) state(event int64, to states.Task) {
	if i, known := p.nodes[event]; known {
		p.view.Nodes[i].State = to.String()
	}
}

// learn lets the next decision follow from the node of an event.
func (p *picture) learn(event int64) {
	if _, known := p.nodes[event]; known {
		p.seen = append(p.seen, p.id(event))
	}
}

// decide begins a decision, which knows all that has happened.
func (p *picture) decide(event int64) {
	p.state(event, states.TaskRunning)
	for _, from := range p.seen {
		p.edge(from, p.id(event))
	}
	p.seen = nil
}

func (p *picture) ref(name string) (n int64) {
	_ = json.Unmarshal(p.attributes[name], &n) // 0 if it is absent
	return n
}

func (p *picture) text(name string) (s string) {
	_ = json.Unmarshal(p.attributes[name], &s) // "" if it is absent
	return s
}
