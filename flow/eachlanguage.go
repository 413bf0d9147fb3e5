package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// each is the language of the run that the items of an [EachFlow] are nodes of. A node has the number of its item. As
// nodes end, the language adds those of the next items, and remembers only where in the list they are.
type each struct {
	name     string
	atOnce   int
	tolerate int
	task     itemBody // if the body is an atom
	child    *Plan    // if it is a flow
	given    given

	listFailures bool // the node provides the failures
}

// NumbersNodes implements [grow.Numbering].
func (e *each) NumbersNodes() {}

func (e *each) reverts() bool {
	if e.child != nil {
		return e.child.reverts()
	}
	return e.task.Reverts()
}

func (e *each) stays() bool {
	if e.child != nil {
		return e.child.stays()
	}
	return e.task.StaysDone()
}

// undoOf says in the node of an item how the item is undone.
func (e *each) undoOf(spec *grow.Spec) {
	switch {
	case e.child != nil && e.child.reverts():
		spec.Undo = &grow.Undo{}
	case e.child == nil && e.task.Reverts():
		spec.Undo = &grow.Undo{Task: itemTask, Policy: e.task.RevertPolicy()}
	default:
		spec.LeaveUndone(e.stays(), true)
	}
}

// Names of the tasks of the language.
const (
	itemTask = "item"
	readTask = "read"
)

// Task implements [grow.TaskLanguage].
func (e *each) Task(name string) (atom.Body, bool) {
	switch {
	case name == itemTask && e.task.Atom != nil:
		return e.task, true
	case name == readTask:
		return itemsReader, true
	default:
		return nil, false
	}
}

// Undo implements [grow.Language].
func (e *each) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

// eachMemory is what the run of the items remembers.
type eachMemory struct {
	At     int               `json:"a,omitempty"` // offset of the next item in the input
	Around int               `json:"s,omitempty"` // length of the members of the input from around the node
	Begun  int               `json:"n,omitempty"` // items so far
	Open   int               `json:"o,omitempty"` // how many of them have not ended
	Failed int               `json:"x,omitempty"`
	Lost   []int             `json:"y,omitempty"` // numbers of the items that failed, ascending
	Bytes  int               `json:"b,omitempty"` // of results
	All    bool              `json:"e,omitempty"` // no item is left to begin
	Stored *atom.StoredList  `json:"l,omitempty"` // the list, if it is stored elsewhere
	From   int               `json:"f,omitempty"` // node of that list from which to read
	Read   bool              `json:"r,omitempty"` // a page is being read
	Page   []json.RawMessage `json:"p,omitempty"` // items that were read and have not begun
}

// working is the run of the items in the middle of an answer.
type working struct {
	*each
	eachMemory

	ask    *grow.Ask
	growth grow.Growth
}

// Grow implements [grow.Language].
func (e *each) Grow(ask *grow.Ask) grow.Growth {
	w := &working{each: e, ask: ask}
	cause := &ask.Cause
	if cause.Kind != grow.Begin {
		if err := ask.Memory.Decode(&w.eachMemory); err != nil {
			return failedWith(atom.CodeLanguage, fmt.Sprintf("node %q: broken memory: %v", e.name, err))
		}
	}
	switch cause.Kind {
	case grow.Begin:
		w.begin()
	case grow.Ended:
		if cause.Name == readTask+strconv.Itoa(w.From) {
			w.read(cause.Result)
			break
		}
		w.Open--
		w.Bytes += len(cause.Result) + 1
	case grow.Failed:
		w.failed(cause)
	case grow.Stopped, grow.Told:
		return w.growth
	default: // Continue
	}
	if w.growth.End == nil && w.growth.Again == nil {
		w.goOn()
	}
	w.growth.Memory = atom.MustEncode(&w.eachMemory)
	return w.growth
}

func failedWith(code, message string) grow.Growth {
	return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: code, Message: message}}}
}

// begin finds the list in the input.
func (w *working) begin() {
	text := w.ask.Run.Input.JSON()
	r := jsontext.NewReader(text)
	found := false
	before := r.Offset()
	err := r.Members(func(name string) error {
		if name == itemsMember { // the last
			found, w.Around = true, before
			r.Space()
			w.At = r.Offset()
		}
		r.Skip()
		before = r.Offset()
		return nil
	})
	list := text[w.At:]
	switch stored, is := atom.StoredListOf(atom.FromJSON(bytes.TrimSuffix(list, []byte("}")))); {
	case err != nil || !found:
		w.growth = failedWith(atom.CodeNotFound, fmt.Sprintf("node %q has no list of items", w.name))
	case is:
		w.Stored = stored
	case bytes.HasPrefix(list, []byte("null")):
		w.All = true
	case list[0] == '[':
		w.At++
	default:
		w.growth = failedWith(atom.CodeNotFound, fmt.Sprintf("the items of node %q are not a list", w.name))
	}
}

// failed decides what the failure of an item means.
func (w *working) failed(cause *grow.Cause) {
	f := *cause.Failure
	if w.child == nil && cause.Name[0] >= '0' && cause.Name[0] <= '9' {
		policy := w.task.Attempts()
		if wait, again := policy.After(cause.Attempt, cause.Failure); again {
			random := float64(w.ask.Random()>>11) / (1 << 53) //nolint:mnd // of 53 bits
			w.growth.Again = &grow.Again{After: atom.Jittered(wait, policy.Backoff.Jitter, random), Token: w.token()}
			return
		}
	}
	if inner := f.Atom; w.child != nil && inner != "" && inner != cause.Name {
		f.Atom = cause.Name + "/" + clip.Ends(inner, clip.Path)
	} else {
		f.Atom = cause.Name
	}
	w.Open--
	if i, err := strconv.Atoi(cause.Name); err == nil && w.listFailures && len(w.Lost) < MaxItemFailures {
		at, _ := slices.BinarySearch(w.Lost, i)
		w.Lost = slices.Insert(w.Lost, at, i)
	}
	if w.Failed++; w.Failed <= w.tolerate {
		return
	}
	if w.tolerate > 0 {
		f.Message = fmt.Sprintf("more than %d items have failed, the last one with: %s", w.tolerate,
			clip.Ends(f.Message, clip.Cause))
	}
	w.growth.End = &grow.End{Failure: &f}
}

// token returns the token of the next attempt of an item; "" if it needs none.
func (w *working) token() string {
	if w.child == nil && w.task.Deferral() != nil {
		return w.ask.Token()
	}
	return ""
}

// itemsPerAnswer is how many items one answer begins.
const itemsPerAnswer = 256

// goOn begins as many items as may run, and ends the run when all have ended.
func (w *working) goOn() {
	for n := 0; w.Open < w.atOnce && !w.All && w.growth.End == nil; n++ {
		if n == itemsPerAnswer {
			w.growth.More = atom.Null
			return
		}
		item := w.next()
		if item == nil {
			break
		}
		w.beginItem(item)
	}
	switch {
	case w.growth.End != nil:
	case w.All && w.Open == 0:
		w.end()
	case w.Stored != nil && !w.All && !w.Read && len(w.Page) == 0:
		w.Read = true
		w.growth.Add = append(w.growth.Add, grow.Spec{
			Name: readTask + strconv.Itoa(w.From), Kind: grow.Work, Task: readTask,
			Input: atom.MustEncode(itemQuery{w.Stored, w.From}),
		})
	}
}

// next returns the next item; nil if there is none at hand.
func (w *working) next() []byte {
	if w.Stored != nil {
		if len(w.Page) == 0 {
			return nil
		}
		item := w.Page[0]
		w.Page = w.Page[1:]
		w.All = len(w.Page) == 0 && !w.Read && w.From >= w.Stored.Nodes
		return item
	}
	r := jsontext.NewReader(w.ask.Run.Input.JSON()[w.At:])
	item := r.Skip()
	if len(item) == 0 {
		w.All = true
		return nil
	}
	r.Space()
	w.At += r.Offset()
	if w.ask.Run.Input.JSON()[w.At] == ',' {
		w.At++
	} else {
		w.All = true
	}
	return item
}

// read takes in a page of a list that is stored elsewhere.
func (w *working) read(page atom.Value) {
	w.Read = false
	w.From += atom.ListPage
	if err := page.Decode(&w.Page); err != nil {
		w.growth = failedWith(atom.CodeLanguage, fmt.Sprintf("the items of node %q: %v", w.name, err))
	}
	w.All = len(w.Page) == 0 && w.From >= w.Stored.Nodes
}

// Results up to these limits are one value; those above stay in the records of their nodes.
const (
	maxResults     = 1000
	maxResultBytes = atom.MaxValue / 4
)

// end ends the run with the results.
func (w *working) end() {
	if w.Begun > maxResults || w.Bytes > maxResultBytes {
		stored := atom.StoredList{Run: w.ask.Run.ID, Nodes: w.Begun, Len: w.Begun - w.Failed}
		w.growth.End = &grow.End{Value: w.withFailures(stored.Value())}
		return
	}
	list := append(make(atom.Value, 0, w.Bytes+len("j[]")), atom.CodecJSON, '[')
	for i := range w.Begun {
		past, ok := w.ask.Recall(strconv.Itoa(i))
		if !ok || past.Result == nil {
			continue
		}
		if len(list) > len("j[") {
			list = append(list, ',')
		}
		list = append(list, past.Result.JSON()...)
	}
	w.growth.End = &grow.End{Value: w.withFailures(append(list, ']'))}
}
