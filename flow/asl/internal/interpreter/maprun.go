package interpreter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A distributed Map state begins a map run: a flow of its own, the only child of
// the state's fork. It reads items a page at a time. As slots become free, it begins
// a run for each item or batch, and counts how the runs end. It keeps numbers only:
// the tasks that read the items keep the items, and the runs keep the results.

// mapRun is a map run in the middle of an answer.
type mapRun struct {
	*Interpreter

	set *mapSettings
	mapProgress
}

// mapProgress is what a map run remembers.
type mapProgress struct {
	Last    int64  `json:"p"`           // number of the event that the next one follows from
	Begun   int    `json:"n,omitempty"` // how many children were begun
	Open    int    `json:"o,omitempty"` // how many of them have not ended
	Items   int64  `json:"i,omitempty"` // how many items they were given
	Failed  int64  `json:"x,omitempty"` // how many items failed with them
	From    string `json:"f,omitempty"` // where the next item is read
	Reads   int    `json:"r,omitempty"` // how many pages were asked for
	Reading bool   `json:"g,omitempty"` // and one has not come yet
	All     bool   `json:"a,omitempty"` // nothing is left to be begun

	Writes  int               `json:"w,omitempty"` // how many parts of results were written
	Written int               `json:"m,omitempty"` // of how many children, or gathered
	Results json.RawMessage   `json:"t,omitempty"` // an array of the results of those, when they are not written
	Sizes   [len(files)]int64 `json:"z,omitzero"`  // of the files so far
	Closed  bool              `json:"c,omitempty"` // all is written
	Error   string            `json:"e,omitempty"` // what the map run fails with once its results are written
	Cause   string            `json:"q,omitempty"`
}

// Names of the nodes of a map run; children have their numbers.
const (
	readNode  = "read"
	writeNode = "write"
)

// runMap answers what is asked about a map run.
func runMap(w *Interpreter) error {
	r := &mapRun{Interpreter: w, set: w.Group.run}
	w.vars = map[string]*data.Value{} // the memory holds none
	if w.State = w.Machine.States[w.Group.state]; w.State == nil || w.State.Items == nil || w.State.Items.Distributed == nil {
		return fmt.Errorf("asl: %s: the definition has no distributed Map state %q", w.Machine.Name, w.Group.state)
	}
	w.entered, w.EnteredAt, w.Input = w.Group.entered, w.Group.at, w.Group.input
	if w.Input == nil {
		w.Input = data.EmptyObject
	}
	if w.Ask.Cause.Kind == flow.Begin {
		w.last = w.Group.started
		details := newDetails()
		details.String("mapRunArn", r.set.ARN)
		w.event("MapRunStarted", ended(details))
	} else if err := w.Ask.Memory.Decode(&r.mapProgress); err != nil {
		return fmt.Errorf("asl: broken memory of a map run: %w", err)
	} else {
		w.last = r.Last
	}
	r.heed()
	r.Last = w.last
	w.growth.Memory = atom.MustEncode(r.mapProgress)
	return nil
}

// heed does what the cause asks for.
func (r *mapRun) heed() {
	cause := &r.Ask.Cause
	node, _, _ := strings.Cut(cause.Name, "#")
	switch {
	case cause.Kind == flow.Begin && r.set.MaxItems < 0:
		r.end(&stateerror.Error{Name: stateerror.ItemReader, Cause: "field MaxItems must be positive"})
		return
	case cause.Kind == flow.Continue && r.All && r.Open == 0:
		r.finish()
	case cause.Kind == flow.Begin, cause.Kind == flow.Continue:
		r.goOn(nil)
	case node == readNode && cause.Kind == flow.Ended:
		r.read(cause.Result)
	case node == readNode:
		r.Reading = false
		r.giveUp(failedAs(stateerror.ItemReader, cause.Failure))
	case node == writeNode && cause.Kind == flow.Ended:
		r.finish()
	case node == writeNode:
		r.end(failedAs(stateerror.ResultWriter, cause.Failure))
	default:
		r.ended(cause)
	}
}

// failedAs is the error of a task that reads or writes for a map run.
func failedAs(name string, failure *atom.Failure) *stateerror.Error {
	f := stateerror.OfTask(failure, name)
	if !strings.HasPrefix(f.Name, "States.") || f.Name == stateerror.Timeout {
		f.Name = name
	}
	return f
}

// read takes in a page.
func (r *mapRun) read(result atom.Value) {
	r.Reading = false
	var page ItemPage
	if err := json.Unmarshal(result.JSON(), &page); err != nil {
		r.giveUp(&stateerror.Error{Name: stateerror.ItemReader, Cause: "the items that were read are no page of items: " + err.Error()})
		return
	}
	r.goOn(&page)
}

// ended counts a child that has ended.
func (r *mapRun) ended(cause *flow.Cause) {
	r.Open--
	if cause.Kind == flow.Failed {
		items := int64(1)
		if n, err := jsontext.NewReader(cause.Note.JSON()).Int(); err == nil {
			items = n
		}
		r.Failed += items
	}
	r.goOn(nil)
}

// exceeded reports whether more items have failed than may. How many of a hundred
// failed is known when all items are.
func (r *mapRun) exceeded() bool {
	switch {
	case r.Failed == 0:
		return false
	case r.set.Count == 0 && r.set.Percentage == 0:
		return true
	case r.set.Count > 0 && r.Failed > r.set.Count:
		return true
	}
	return r.set.Percentage > 0 && r.All && float64(r.Failed)*100 > r.set.Percentage*float64(r.Items)
}

// goOn begins as many children as there are slots for, of a page that was read or
// of the state's input, and ends the map run when there is nothing more to do.
func (r *mapRun) goOn(page *ItemPage) {
	switch f := r.fill(page); {
	case f != nil:
		r.giveUp(f)
	case r.exceeded():
		r.giveUp(&stateerror.Error{Name: stateerror.Tolerated, Cause: "The specified tolerated failure threshold was exceeded"})
	case r.All && r.Open == 0:
		r.finish()
	case !r.All && !r.Reading && r.set.Reader != nil && r.Open <= r.set.Slots/2:
		r.readMore(r.set.Slots - r.Open)
	case !r.All && r.set.Reader == nil && r.Open < r.set.Slots: // so many that they take more than one answer
		r.growth.More = data.Encode(true)
	}
}

// fill begins children.
func (r *mapRun) fill(page *ItemPage) *stateerror.Error {
	if r.set.Reader == nil {
		if r.All || r.Open >= r.set.Slots {
			return nil
		}
		page = r.pageOfInput()
	}
	switch {
	case page == nil:
		return nil
	case len(page.Items) == 0 && !page.End:
		return &stateerror.Error{Name: stateerror.ItemReader, Cause: "the items that were read are no page of items: there is none, and no end"}
	}
	return r.batches(page)
}

const (
	maxPageItems = 10_000
	maxPageBytes = 512 << 10
)

// readMore asks for the items of so many children.
func (r *mapRun) readMore(children int) {
	query := *r.set.Reader
	query.From, query.Bytes = r.From, maxPageBytes
	query.Limit = children
	if r.set.Batches {
		query.Limit = maxPageItems
		if r.set.PerBatch > 0 {
			query.Limit = int(min(int64(children)*r.set.PerBatch, maxPageItems))
		}
	}
	if r.set.MaxItems > 0 {
		query.Limit = int(min(int64(query.Limit), r.set.MaxItems-r.Items))
	}
	r.Reads++
	r.Reading = true
	r.growth.Add = append(r.growth.Add, flow.Spec{
		Name: readNode + "#" + strconv.Itoa(r.Reads), Kind: flow.Work, Task: ReadItems, Input: atom.MustEncode(query),
	})
}

// beginRun begins the run of a child.
func (r *mapRun) beginRun(input *data.Value, items int) {
	spec := flow.Spec{
		Name: strconv.Itoa(r.Begun), Kind: flow.Nested, Input: input.Encoded(), Note: data.Encode(data.Number(int64(items))),
		Child: &flow.Child{
			ID: r.childRun(r.Begun), Flow: r.Ask.Run.Flow, Definition: r.Ask.Run.Definition, Attributes: r.childAttributes(r.set, r.Begun),
		},
	}
	if r.State.Undoes() {
		spec.Undo = &flow.Undo{}
	}
	r.growth.Add = append(r.growth.Add, spec)
	r.Begun++
	r.Open++
	r.Items += int64(items)
}

// giveUp ends the map run with an error. Results that are to be written still are.
func (r *mapRun) giveUp(f *stateerror.Error) {
	r.tell(f)
	if r.set.Target == nil {
		r.end(f)
		return
	}
	r.Error, r.Cause = f.Name, f.Cause
	r.growth.Add, r.growth.DropOpen = nil, true
	r.Open, r.Reading, r.All = 0, false, true
	r.finish()
}

// end ends the map run: with an error, or well.
func (r *mapRun) end(f *stateerror.Error) {
	r.tell(f)
	r.event("MapRunFailed", errorDetails(f))
	r.growth.Add, r.growth.More = nil, nil
	r.growth.End = &flow.End{Failure: f.Failure(), Note: r.endNote()}
}

func (r *mapRun) endWell(result atom.Value) {
	r.event("MapRunSucceeded", nil)
	r.growth.End = &flow.End{Value: result, Note: r.endNote()}
}
