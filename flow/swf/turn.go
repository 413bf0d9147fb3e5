package swf

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// A turn is the answer to one question while it is being composed.
type turn struct {
	settings *Settings
	ask      *grow.Ask
	start    Start
	memory   memory
	growth   grow.Growth

	closed bool // the closing event was appended: nothing follows it
	wants  bool // an event schedules a decision task

	abandoned bool // the execution was ended without an undo
}

// emit appends an event and returns its number. prev is the event that led to it; name is for people. After the closing
// event, emit appends nothing. If the history is full, the execution is terminated instead.
func (t *turn) emit(event string, prev int64, name string, a *history.Attributes) int64 {
	if t.closed {
		return 0
	}
	entry := history.ByType(event)
	n := t.ask.Event + int64(len(t.growth.Events))
	if n > t.settings.Events && !entry.Closes && t.start.Undoes == nil {
		t.terminate("", nil, nil, "EVENT_LIMIT_EXCEEDED")
		return 0
	}
	t.growth.Events = append(t.growth.Events, grow.Event{Type: event, Prev: prev, Name: name, Details: a.Value()})
	if strings.HasPrefix(event, "ActivityTask") {
		t.memory.LatestActivity = t.ask.Now.UnixMilli()
	}
	t.closed = entry.Closes
	t.wants = t.wants || entry.Schedules != history.Never
	return n
}

// add adds a node, unless the execution has closed.
func (t *turn) add(spec grow.Spec) {
	if !t.closed {
		t.growth.Add = append(t.growth.Add, spec)
	}
}

// drop takes back a node: one that was added by this answer, or an open one.
func (t *turn) drop(name string) {
	added := len(t.growth.Add)
	t.growth.Add = slices.DeleteFunc(t.growth.Add, func(s grow.Spec) bool { return s.Name == name })
	if len(t.growth.Add) == added {
		t.growth.Drop = append(t.growth.Drop, name)
	}
}

// finish schedules the decision task that the events require, and returns the answer.
func (t *turn) finish() grow.Growth {
	g := &t.growth
	switch {
	case g.Refuse != nil:
		return grow.Growth{Refuse: g.Refuse}
	case g.End != nil && !t.closed: // the run is not an execution
		return *g
	case t.closed:
		t.release()
	default:
		if t.wants && t.memory.Scheduled == nil {
			t.schedule()
		}
		t.offer()
		g.Listen = t.start.Undoes != nil // no node is open while a person decides
		if t.closed {                    // its event was one too many
			t.release()
		}
	}
	g.Memory = atom.MustEncode(&t.memory)
	return *g
}

// release leaves the open children running, and withdraws everything else.
func (t *turn) release() {
	g := &t.growth
	g.Add = slices.DeleteFunc(g.Add, func(s grow.Spec) bool { return s.Kind != grow.Nested })
	for i := range g.Add {
		g.Add[i].Report = false
	}
	for i := range g.Send {
		g.Send[i].Receipt, g.Send[i].Note = "", nil
	}
	g.Drop, g.GiveUp = nil, nil
	g.Leave = slices.Sorted(maps.Keys(t.memory.Children))
	t.memory.close()
}

// schedule appends the event of a new decision task.
func (t *turn) schedule() {
	task := &scheduledTask{List: t.start.TaskList.Name}
	if o := t.memory.Override; o != nil {
		task.List, task.ToStart = o.List, o.ToStart
	}
	var a history.Attributes
	a.List("taskList", task.List).Filled("taskPriority", t.start.TaskPriority).
		Filled("startToCloseTimeout", t.start.TaskStartToCloseTimeout).
		Text("scheduleToStartTimeout", cmp.Or(task.ToStart, decision.None))
	prev := int64(0)
	if n := len(t.growth.Events); n > 0 {
		prev = t.ask.Event + int64(n) - 1
	}
	task.Event = t.emit(history.DecisionScheduled, prev, "", &a)
	if !t.closed {
		t.memory.Scheduled = task
	}
}

// offer lets deciders find the scheduled decision task once no other one is started.
func (t *turn) offer() {
	task := t.memory.Scheduled
	if task == nil || task.Offered || t.memory.Started != nil {
		return
	}
	task.Offered = true
	if t.start.Undoes != nil {
		t.offerUndo(task)
		return
	}
	toStart := limit(task.ToStart)
	n := note{Kind: decisionNode, Event: task.Event, StartDue: dueAfter(t.ask.Now, toStart)}
	t.add(grow.Spec{
		Name: decisionNode + "#" + strconv.FormatInt(task.Event, 10), Kind: grow.Work, Token: t.ask.Token(),
		Queue: DecisionQueue(t.start.Domain, task.List), Priority: priority(t.start.TaskPriority),
		Input: atom.Null, Note: n.value(), ToStart: toStart,
		ToClose: limit(t.start.TaskStartToCloseTimeout),
	})
}

// execution returns the execution itself.
func (t *turn) execution() Execution { return Execution{t.start.WorkflowID, t.ask.Run.ID} }

// begin appends the first events.
func (t *turn) begin() {
	s := &t.start
	var a history.Attributes
	a.Given("input", textOf(t.ask.Run.Input)).
		Filled("executionStartToCloseTimeout", s.ExecutionStartToCloseTimeout).
		Filled("taskStartToCloseTimeout", s.TaskStartToCloseTimeout).
		Text("childPolicy", s.ChildPolicy).List("taskList", s.TaskList.Name).
		Filled("taskPriority", s.TaskPriority).Type("workflowType", s.Type.Name, s.Type.Version).Tags("tagList", s.TagList).
		Filled("continuedExecutionRunId", s.ContinuedExecutionRunID)
	if s.Parent != nil {
		a.Execution("parentWorkflowExecution", s.Parent.WorkflowID, s.Parent.RunID)
	}
	a.Ref("parentInitiatedEventId", s.ParentInitiatedEventID).Filled("lambdaRole", s.LambdaRole)
	t.emit(history.Started, 0, "", &a)
	if s.Undoes != nil {
		t.memory.Undoing = &undoState{Before: s.Undoes.Closed}
	}
	if s.ExecutionStartToCloseTimeout != decision.None {
		due := t.ask.Now.Add(max(seconds(s.ExecutionStartToCloseTimeout), 0))
		t.memory.Due = due.UnixMilli()
		n := note{Kind: TimeoutNode}
		t.add(grow.Spec{Name: TimeoutNode, Kind: grow.Timer, Due: due, Note: n.value(), Limits: true})
	}
}
