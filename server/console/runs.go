package console

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// mostCounted is up to how many runs of a state are counted.
const mostCounted = 1000

// A runRow is a run in a list.
type runRow struct {
	inspect.Run
	Took  time.Duration
	Cause string
}

func rowsOf(runs []storage.Run) []runRow {
	rows := make([]runRow, len(runs))
	for i := range runs {
		rows[i].Run = inspect.RunOf(&runs[i])
		if runs[i].State.Ended() {
			rows[i].Took = runs[i].Ended.Sub(runs[i].Created)
		}
		if runs[i].Failure != nil {
			rows[i].Cause = inspect.Cause(runs[i].Failure)
		}
	}
	return rows
}

// A stateCount is how many of the runs that a filter selects are in a state.
type stateCount struct {
	State  string
	Count  int
	More   bool // there are more than Count
	Chosen bool
	Link   string
}

// A runsBody is a page of runs.
type runsBody struct {
	Flow, State, Label, Parent, Children string // the filter, as its fields show it
	Problem                              string
	Counts                               []stateCount
	Runs                                 []runRow
	Next                                 string // address of the next page; "" if there is none
}

// flowStates are all states of a run, in the order in which a page shows them.
var flowStates = []states.Flow{
	states.FlowRunning, states.FlowSuspended, states.FlowPending, states.FlowSuccess, states.FlowFailure,
	states.FlowReverted,
}

func (c *console) runs(ctx context.Context, q url.Values) (*runsBody, error) {
	b := &runsBody{
		Flow: q.Get("flow"), State: q.Get("state"), Label: q.Get("label"), Parent: q.Get("parent"),
		Children: q.Get("children"),
	}
	find := storage.RunQuery{
		Flow: b.Flow, Parent: b.Parent, Top: b.Children == "" && b.Parent == "", Brief: true, Limit: few + 1,
		After: place(q.Get("after")),
	}
	if key, value, ok := strings.Cut(b.Label, "="); ok {
		find.Labels = map[string]string{key: value}
	} else if b.Label != "" {
		b.Problem = "A label is KEY=VALUE."
	}
	count := find
	count.After, count.Limit = nil, mostCounted+1
	for _, state := range flowStates {
		count.States = []states.Flow{state}
		n, err := c.store.CountRuns(ctx, count)
		if err != nil {
			return nil, err
		}
		text := state.String()
		one := stateCount{State: text, Count: min(n, mostCounted), More: n > mostCounted, Chosen: b.State == text}
		if one.Chosen {
			text = ""
		}
		one.Link = address("runs", "flow", b.Flow, "label", b.Label, "parent", b.Parent, "children", b.Children,
			"state", text)
		b.Counts = append(b.Counts, one)
	}
	var state states.Flow
	if err := state.UnmarshalText([]byte(b.State)); err == nil {
		find.States = []states.Flow{state}
	} else if b.State != "" {
		b.Problem = "There is no state " + b.State + "."
	}
	runs, err := c.store.Runs(ctx, find)
	if err != nil {
		return nil, err
	}
	if len(runs) > few {
		runs = runs[:few]
		b.Next = address("runs", "flow", b.Flow, "label", b.Label, "parent", b.Parent, "children", b.Children,
			"state", b.State, "after", cursor(&runs[few-1]))
	}
	b.Runs = rowsOf(runs)
	return b, nil
}

// A mark is the place of a run in a list, as an address holds it.
type mark struct {
	Created time.Time `json:"c"`
	Number  int64     `json:"n"`
}

func cursor(run *storage.Run) string {
	text, _ := json.Marshal(mark{run.Created, run.Number}) // of a time and a number
	return base64.RawURLEncoding.EncodeToString(text)
}

// place returns the run after which a list continues; nil for a text that is no cursor.
func place(text string) *storage.Run {
	var m mark
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &m) != nil || m.Created.IsZero() {
		return nil
	}
	return &storage.Run{Created: m.Created, Number: m.Number}
}
