package swf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// An UndoType says that activities of the type By undo activities of a type.
type UndoType struct {
	Type Type `json:"type"`
	By   Type `json:"by"`
}

// An Undoing is what an execution undoes. Such an execution has no decider: the model decides itself.
type Undoing struct {
	RunID  string     `json:"runId"`  // of the execution that has closed
	Closed int64      `json:"closed"` // its closing event
	Types  []UndoType `json:"types"`
	// Open are the activities that workers had when it closed: their ActivityTaskScheduled events, the last that was
	// started first.
	Open []int64 `json:"open,omitempty"`
}

// Signals by which a person decides about an undo that has failed.
const (
	SignalRetry = "retry" // schedule the activity that undoes once more
	SignalSkip  = "skip"  // continue, because a person has undone it by hand
)

// UndoSuffix is the end of the workflowId of an execution that undoes another one. No client starts one.
const UndoSuffix = decision.UndoSuffix

// UndoID returns the workflowId of the execution that undoes one with this workflowId. It has at most as many
// characters as a workflowId may have.
func UndoID(workflowID string) string {
	const most = 256 - len(UndoSuffix)
	return cut(workflowID, most) + UndoSuffix
}

// IsUndo reports whether a workflowId is that of an execution that undoes another one. Several may have it at once,
// and none of them has a key.
func IsUndo(workflowID string) bool { return strings.HasSuffix(workflowID, UndoSuffix) }

// ebbIdentity is the identity of the decider of executions that undo.
const ebbIdentity = "ebb"

// undoNode is the prefix of the node that begins an execution that undoes.
const undoNode = "undo"

// An undoState is how far an execution that undoes has come.
type undoState struct {
	Opened int       `json:"opened,omitempty"` // how many of Undoing.Open are dealt with
	Before int64     `json:"before"`           // the events before this one are still to be dealt with
	Item   *undoItem `json:"item,omitempty"`   // what is being undone
	Turn   int       `json:"turn,omitempty"`   // rises when a person decides
	Stuck  bool      `json:"stuck,omitempty"`  // the undo of Item failed, and a person must decide
	Undone int       `json:"undone,omitempty"`
	Skip   int       `json:"skipped,omitempty"`
}

// undoes returns what undoes activities of a type; nil if nothing does.
func (s *Settings) undoes(t Type) *UndoType {
	i := slices.IndexFunc(s.Undo, func(u UndoType) bool { return u.Type == t })
	if i < 0 {
		return nil
	}
	return &s.Undo[i]
}

// mayNeedUndo remembers that an activity is to be undone if the execution does not succeed; nil is none.
func (t *turn) mayNeedUndo(by *UndoType) {
	if by != nil && !slices.Contains(t.memory.Undo, *by) {
		t.memory.Undo = append(t.memory.Undo, *by)
	}
}

// startUndo starts the execution that undoes this one, which has closed without success.
func (t *turn) startUndo() {
	var open []openActivity
	for _, a := range t.memory.Activities {
		if a.Undo != nil {
			t.mayNeedUndo(a.Undo)
			open = append(open, a)
		}
	}
	if len(t.memory.Undo) == 0 {
		return
	}
	slices.SortFunc(open, func(a, b openActivity) int { return int(b.Started - a.Started) })
	closed := t.ask.Event + int64(len(t.growth.Events)) - 1
	undoing := &Undoing{RunID: t.ask.Run.ID, Closed: closed, Types: t.memory.Undo}
	for _, a := range open {
		undoing.Open = append(undoing.Open, a.Scheduled)
	}
	parent := t.execution()
	s := Start{
		Domain: t.start.Domain, WorkflowID: UndoID(t.start.WorkflowID), Type: t.start.Type, TagList: t.start.TagList,
		Parent: &parent, Undoes: undoing, Configuration: Configuration{
			TaskList: &TaskList{UndoSuffix}, TaskPriority: t.start.TaskPriority, TaskStartToCloseTimeout: decision.None,
			ExecutionStartToCloseTimeout: decision.None, ChildPolicy: PolicyAbandon,
		},
	}
	child := s.Run(RunID(t.ask.Random), nil)
	child.Key, child.Detached = "", true
	child.Labels[LabelUndoes] = t.ask.Run.ID
	t.label(LabelUndo, child.ID)
	t.growth.Add = append(t.growth.Add, grow.Spec{
		Name: NodeName(undoNode, closed), Kind: grow.Nested, Note: (&note{Kind: undoNode}).value(), Child: child,
	})
}

// offerUndo lets the engine look for what is to be undone next. That is the decision task of an execution that undoes.
func (t *turn) offerUndo(task *scheduledTask) {
	n := note{Kind: decisionNode, Event: task.Event}
	state := t.memory.Undoing
	ask := UndoAsk{
		Domain: t.start.Domain, RunID: t.start.Undoes.RunID, Types: t.start.Undoes.Types, Item: state.Item,
		Before: state.Before, Turn: state.Turn,
	}
	if left := t.start.Undoes.Open[state.Opened:]; state.Item == nil && len(left) > 0 {
		ask.Item = &undoItem{Scheduled: left[0]}
	}
	t.add(grow.Spec{
		Name: NodeName(decisionNode, task.Event), Kind: grow.Work, Task: UndoTask, Input: atom.MustEncode(ask),
		Note: n.value(),
	})
}

// mostDoublings bounds how often the pause before the task is called again is doubled.
const mostDoublings = 6

// undoDecision applies what the engine has found to undo next.
func (t *turn) undoDecision(n *note) {
	c := &t.ask.Cause
	var step UndoStep
	if c.Kind != grow.Ended {
		t.growth.Again = &grow.Again{After: min(time.Second<<min(c.Attempt, mostDoublings), time.Minute)}
		return
	}
	if err := c.Result.Decode(&step); err != nil {
		step = UndoStep{Turn: t.memory.Undoing.Turn, Lost: err.Error()}
	}
	var a history.Attributes
	started := t.emit(history.DecisionStarted, n.Event, "",
		a.Text("identity", ebbIdentity).Ref("scheduledEventId", n.Event))
	a = history.Attributes{}
	completed := t.emit(history.DecisionCompleted, started, "",
		a.Ref("scheduledEventId", n.Event).Ref("startedEventId", started))
	t.memory.Scheduled, t.memory.Previous = nil, started
	switch state := t.memory.Undoing; {
	case state.Turn != step.Turn: // a person has decided meanwhile
		t.wants = true
	case state.Stuck:
	case step.Lost != "":
		state.take(step.Item, t.start.Undoes)
		t.undoFailed(step.Lost)
	case step.Item == nil:
		t.undone(completed)
	default:
		t.undoNext(&step, completed)
	}
}

// undoNext schedules the activity that undoes another one.
func (t *turn) undoNext(step *UndoStep, completed int64) {
	t.memory.Undoing.take(step.Item, t.start.Undoes)
	done := &Completion{}
	if step.Known != nil {
		done.ActivityTypes = []KnownActivityType{*step.Known}
	}
	id := "#" + strconv.FormatInt(step.Item.Scheduled, 10)
	id = cut(step.ActivityID, maxReason-len(id)) + id
	d := decision.NewActivity(id, step.By.Name, step.By.Version, step.Input)
	b := &batchTurn{turn: t, done: done, completed: completed}
	b.scheduleActivity(&d, "")
	if len(t.memory.Activities) == 0 {
		t.undoFailed(fmt.Sprintf("the activity type %s/%s cannot be scheduled; the history says why", step.By.Name,
			step.By.Version))
	}
}

// undoneActivity continues after the end of an activity that undoes another one.
func (t *turn) undoneActivity(id, event string) {
	state := t.memory.Undoing
	if event == history.ActivityCompleted {
		state.Item = nil
		state.Undone++
		return
	}
	t.undoFailed("the activity " + id + " did not complete: " + event)
}

// undoFailed waits for a person.
func (t *turn) undoFailed(why string) {
	t.memory.Undoing.Stuck = true
	t.growth.Person = &atom.Failure{
		Message: fmt.Sprintf("%s. The signal %s tries it again, and %s goes on without it", why, SignalRetry, SignalSkip),
	}
}

// personDecided applies the signal of a person, if one was asked.
func (t *turn) personDecided(signal string) {
	state := t.memory.Undoing
	if state == nil || !state.Stuck || signal != SignalRetry && signal != SignalSkip {
		return
	}
	state.Stuck = false
	state.Turn++
	t.growth.Person = &atom.Failure{}
	if signal == SignalSkip {
		state.skip(t.start.Undoes)
	}
}

// take starts to undo an item, or starts again.
func (s *undoState) take(item *undoItem, of *Undoing) {
	switch {
	case s.Item != nil || item == nil:
	case s.Opened < len(of.Open):
		s.Opened++
	default:
		s.Before = item.Ended
	}
	s.Item = item
}

// skip continues without undoing the current item. Without an item, the history could not be read, and skip leaves out
// all of it.
func (s *undoState) skip(of *Undoing) {
	s.Skip++
	if s.Item == nil {
		s.Opened, s.Before = len(of.Open), 1
	}
	s.Item = nil
}

// undone closes the execution: everything is undone, or was skipped.
func (t *turn) undone(completed int64) {
	state := t.memory.Undoing
	result := atom.MustEncode(map[string]int{"undone": state.Undone, "skipped": state.Skip}).String()
	var a history.Attributes
	t.emit(history.Completed, completed, "", a.Text("result", result).Decided(completed))
	t.end("COMPLETED", grow.End{Value: atom.MustEncode(outcome{RunID: t.ask.Run.ID, Result: &result})})
}
