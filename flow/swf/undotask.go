package swf

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// UndoTask is the task that finds what an execution that undoes has to undo next. Its input is an [UndoAsk], and its
// result an [UndoStep]. It only reads, so it can be called any number of times.
const UndoTask = "ebb:undo"

// An UndoAsk asks for what to undo next.
type UndoAsk struct {
	Domain string     `json:"domain"`
	RunID  string     `json:"runId"` // the execution that has closed
	Types  []UndoType `json:"types"`
	Item   *undoItem  `json:"item,omitempty"` // nil means the last activity that ended before the event Before
	Before int64      `json:"before"`         // see Item
	Turn   int        `json:"turn,omitempty"` // copied to the step
}

// An UndoStep names the activity that is undone next, and the activity that undoes it.
type UndoStep struct {
	Item       *undoItem `json:"item,omitempty"` // nil: there is nothing left
	Turn       int       `json:"turn,omitempty"` // copied from the ask
	ActivityID string    `json:"activityId,omitempty"`
	By         Type      `json:"by,omitzero"`
	Input      string    `json:"input,omitempty"` // of the activity that undoes
	// Known is the type By, which the caller of [NextUndo] adds; nil if it is not registered.
	Known *KnownActivityType `json:"known,omitempty"`
	Lost  string             `json:"lost,omitempty"` // why nothing can be found; "" if something was
}

// An undoItem is an activity that is undone.
type undoItem struct {
	Scheduled int64 `json:"scheduled"`       // its ActivityTaskScheduled event
	Ended     int64 `json:"ended,omitempty"` // the event of its end; 0 if a worker had it when the execution closed
}

// A NumberedEvent is an event of a history, with its eventId.
type NumberedEvent struct {
	Number int64
	grow.Event
}

// Outcomes in the input of an activity that undoes.
const (
	outcomeDone    = "done"
	outcomeUnknown = "unknown"
)

// An undoInput is the input of an activity that undoes another one.
type undoInput struct {
	Input   *string `json:"input"`
	Result  *string `json:"result"`
	Outcome string  `json:"outcome"`
}

// errNoEvent is the error of a history that lacks an event.
var errNoEvent = errors.New("the history of the execution is not there any more")

// NextUndo finds what to undo next. before yields the events of the closed execution before one, the last first.
func NextUndo(ask *UndoAsk, before func(event int64) iter.Seq2[NumberedEvent, error]) (*UndoStep, error) {
	u := &undoSearch{ask, before}
	step, err := u.next()
	if errors.Is(err, errNoEvent) {
		return &UndoStep{Turn: ask.Turn, Item: ask.Item, Lost: err.Error()}, nil
	}
	return step, err
}

// An undoSearch looks for what to undo next.
type undoSearch struct {
	ask    *UndoAsk
	before func(int64) iter.Seq2[NumberedEvent, error]
}

func (u *undoSearch) next() (*UndoStep, error) {
	if item := u.ask.Item; item != nil {
		var end *NumberedEvent
		if item.Ended != 0 {
			var err error
			if end, err = u.event(item.Ended); err != nil {
				return nil, err
			}
		}
		step, err := u.step(item, end)
		if err == nil && step == nil { // its type was among those to undo
			err = fmt.Errorf("event %d is no activity to undo", item.Scheduled)
		}
		return step, err
	}
	if u.ask.Before > 1 {
		if _, err := u.event(1); err != nil {
			return nil, err
		}
	}
	for e, err := range u.before(u.ask.Before) {
		if err != nil {
			return nil, err
		}
		if e.Type != history.ActivityCompleted && e.Type != history.ActivityTimedOut {
			continue
		}
		var a struct {
			Scheduled int64 `json:"scheduledEventId"`
			Started   int64 `json:"startedEventId"`
		}
		if err := e.Details.Decode(&a); err != nil {
			return nil, err
		}
		if a.Started == 0 { // no worker had it
			continue
		}
		step, err := u.step(&undoItem{a.Scheduled, e.Number}, &e)
		if err != nil || step != nil {
			return step, err
		}
	}
	return &UndoStep{Turn: u.ask.Turn}, nil
}

// event returns one event of the history.
func (u *undoSearch) event(n int64) (*NumberedEvent, error) {
	for e, err := range u.before(n + 1) {
		if err == nil && e.Number != n {
			break
		}
		return &e, err
	}
	return nil, errNoEvent
}

// step returns how to undo an activity, which ended with an event; nil if nothing undoes it.
func (u *undoSearch) step(item *undoItem, end *NumberedEvent) (*UndoStep, error) {
	scheduled, err := u.event(item.Scheduled)
	if err != nil {
		return nil, err
	}
	var a struct {
		ID    string  `json:"activityId"`
		Type  Type    `json:"activityType"`
		Input *string `json:"input"`
	}
	if err := scheduled.Details.Decode(&a); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(u.ask.Types, func(t UndoType) bool { return t.Type == a.Type })
	if i < 0 {
		return nil, nil //nolint:nilnil // nothing undoes it
	}
	in := undoInput{Input: a.Input, Outcome: outcomeUnknown}
	if end != nil && end.Type == history.ActivityCompleted {
		var done struct {
			Result *string `json:"result"`
		}
		if err := end.Details.Decode(&done); err != nil {
			return nil, err
		}
		in.Result, in.Outcome = done.Result, outcomeDone
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return &UndoStep{
		Item: item, Turn: u.ask.Turn, ActivityID: a.ID, By: u.ask.Types[i].By, Input: string(text),
	}, nil
}

// Task implements [grow.TaskLanguage].
func (l *Language) Task(name string) (atom.Body, bool) {
	return l.settings.UndoFinder, name == UndoTask && l.settings.UndoFinder != nil
}
