package interpreter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A distributed Map state starts a map run: a flow of its own, the only child of the state's fork. It reads items
// page by page. As slots become free, it starts a run for each item or batch, and counts how the runs end. Its
// memory contains only numbers: the tasks that read the items keep the items, and the runs keep the results.

// mapRun is a map run that is being asked.
type mapRun struct {
	*Interpreter

	set    *mapSettings
	before mapProgress // progress before the children that this answer starts
	mapProgress
}

// mapProgress is the memory of a map run.
type mapProgress struct {
	Last    int64  `json:"p"`            // number of the event from which the next one follows
	Begun   int    `json:"n,omitempty"`  // number of children started
	Open    int    `json:"o,omitempty"`  // number of these that have not ended
	Items   int64  `json:"i,omitempty"`  // number of items given to children
	Held    int64  `json:"h,omitempty"`  // number of items of the open children
	Failed  int64  `json:"x,omitempty"`  // number of items that failed with their children
	From    string `json:"f,omitempty"`  // position of the next item to read
	Reads   int    `json:"r,omitempty"`  // number of pages requested
	Reading bool   `json:"g,omitempty"`  // the last requested page has not arrived
	Later   bool   `json:"gl,omitempty"` // it was requested for a later time
	All     bool   `json:"a,omitempty"`  // there are no more children to start

	Writes  int               `json:"w,omitempty"` // number of parts of results written
	Written int               `json:"m,omitempty"` // number of children whose results were written, or collected
	Results json.RawMessage   `json:"t,omitempty"` // array of collected results, if they are not written
	Sizes   [len(files)]int64 `json:"z,omitzero"`  // sizes of the files so far
	Closed  bool              `json:"c,omitempty"` // all results are written
	Drops   int               `json:"d,omitempty"` // number of nodes still to be dropped, after the map run gave up
	Unread  bool              `json:"u,omitempty"` // there were more children to start when the map run gave up
	Error   string            `json:"e,omitempty"` // error with which the map run fails after its results are written
	Cause   string            `json:"q,omitempty"`

	Redrives int       `json:"k,omitempty"`  // how often the map run was redriven
	Redriven time.Time `json:"kt,omitzero"`  // when it was last redriven
	Redoes   bool      `json:"l,omitempty"`  // children that did not succeed are being started again
	Redone   int       `json:"b,omitempty"`  // number of children that were checked for that
	Limits   mapLimits `json:"s,omitzero"`   // zero: those of the settings
	Began    int64     `json:"bg,omitzero"`  // number of its first event
	Well     tally     `json:"y,omitzero"`   // children that succeeded
	Again    tally     `json:"ag,omitzero"`  // children that wait to be started again
	Final    tally     `json:"fi,omitzero"`  // children that failed and cannot be started again
	Ended    time.Time `json:"at,omitzero"`  // when the map run ended; zero if it runs, or was ended from outside
	Failing  bool      `json:"ff,omitempty"` // it ended with an error
}

// A tally counts children, and the items that they were given.
type tally struct {
	Children int   `json:"n,omitempty"`
	Items    int64 `json:"i,omitempty"`
}

func (t *tally) add(items int64) { t.Children, t.Items = t.Children+1, t.Items+items }

func (t *tally) remove(items int64) { t.Children, t.Items = t.Children-1, t.Items-items }

// Names of the nodes of a map run; children have their numbers.
const (
	readNode  = "read"
	writeNode = "write"
)

// runMap answers a question about a map run.
func runMap(w *Interpreter) error {
	set := *w.Group.run // the engine keeps the group for the next question
	r := &mapRun{Interpreter: w, set: &set}
	w.vars = map[string]*data.Value{} // the memory contains no variables
	if w.State = w.Machine.States[w.Group.state]; w.State == nil || w.State.Items == nil ||
		w.State.Items.Distributed == nil {
		return fmt.Errorf("asl: %s: the definition has no distributed Map state %q", w.Machine.Name, w.Group.state)
	}
	w.entered, w.EnteredAt, w.Input = w.Group.entered, w.Group.at, w.Group.input
	if w.Input == nil {
		w.Input = data.EmptyObject
	}
	if w.Ask.Cause.Kind == grow.Begin {
		w.last = w.Group.started
		details := newDetails()
		details.String("mapRunArn", r.set.ARN)
		w.event("MapRunStarted", ended(details))
		r.Began = w.last
		if _, ok := w.world(); ok {
			w.growth.Labels = map[string]string{MapRunEvent + r.set.ID: strconv.FormatInt(w.last, 10)}
		}
	} else if err := w.Ask.Memory.Decode(&r.mapProgress); err != nil {
		return fmt.Errorf("asl: broken memory of a map run: %w", err)
	} else {
		w.last = r.Last
	}
	r.set.redrive = r.Redrives
	if r.Limits != (mapLimits{}) {
		set.mapLimits = r.Limits
	}
	r.heed()
	w.growth.Memory = r.progress()
	if end := w.growth.End; end != nil {
		end.Note = w.growth.Memory
	}
	return nil
}

// progress returns the memory of the map run. It is also the note of its end, in which the state finds the number of
// the last event.
func (r *mapRun) progress() atom.Value {
	r.Last = r.last
	return atom.MustEncode(r.mapProgress)
}

// heed handles the cause.
func (r *mapRun) heed() {
	cause := &r.Ask.Cause
	node, _ := nodepath.CutVisit(cause.Name)
	switch {
	case cause.Kind == grow.Begin && r.set.MaxItems < 0:
		r.refuseMaxItems()
	case cause.Kind == grow.Reopened && cause.Name == "":
		r.redriven()
	case cause.Kind == grow.Reopened:
		r.startOver(node)
	case cause.Kind == grow.Told:
		r.updated(cause)
	case cause.Kind == grow.Continue && r.Redoes:
		r.goOn(nil)
	case cause.Kind == grow.Continue && r.Drops > 0:
		r.drop()
	case cause.Kind == grow.Continue && r.All && r.Open == 0:
		r.finish()
	case cause.Kind == grow.Begin, cause.Kind == grow.Continue:
		r.goOn(nil)
	case node == readNode && cause.Kind == grow.Ended:
		r.read(cause.Result)
	case node == readNode:
		r.Reading, r.Later = false, false
		r.giveUp(failedAs(stateerror.ItemReader, cause.Failure))
	case node == writeNode && cause.Kind == grow.Ended:
		r.finish()
	case node == writeNode:
		r.end(failedAs(stateerror.ResultWriter, cause.Failure))
	default:
		r.ended(cause)
	}
}

func (r *mapRun) refuseMaxItems() {
	r.end(maxItemsNegative())
}

func maxItemsNegative() *stateerror.Error {
	return &stateerror.Error{Name: stateerror.ItemReader, Cause: "field MaxItems must be positive"}
}

// failedAs returns the error for a failed task that reads or writes for a map run.
func failedAs(name string, failure *atom.Failure) *stateerror.Error {
	f := stateerror.OfTask(failure, name)
	if !strings.HasPrefix(f.Name, "States.") || f.Name == stateerror.Timeout {
		f.Name = name
	}
	return f
}

// read processes a page of items.
func (r *mapRun) read(result atom.Value) {
	r.Reading, r.Later = false, false
	var page ItemPage
	if err := json.Unmarshal(result.JSON(), &page); err != nil {
		r.giveUp(&stateerror.Error{Name: stateerror.ItemReader, Cause: "the items that were read are no page of items: " +
			err.Error()})
		return
	}
	r.goOn(&page)
}

// ended counts the end of a child.
func (r *mapRun) ended(cause *grow.Cause) {
	items := itemsIn(cause.Note)
	r.Open, r.Held = r.Open-1, r.Held-items
	switch {
	case cause.Kind != grow.Failed:
		r.Well.add(items)
	case exceededEvents(cause.Failure):
		r.Final.add(items)
		fallthrough
	default:
		r.Failed += items
	}
	r.goOn(nil)
}

// itemsIn returns how many items a child was given, from its node's note.
func itemsIn(note atom.Value) int64 {
	if n, err := jsontext.NewReader(note.JSON()).Int(); err == nil {
		return n
	}
	return 1
}

// exceeded reports whether more items have failed than the settings tolerate. A percentage is known only after all
// items were read.
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

// goOn starts as many children as there are free slots, from a page or from the state's input. It ends the map run
// if nothing is left to do.
func (r *mapRun) goOn(page *ItemPage) {
	if r.redo(); r.Redoes {
		return
	}
	r.before = r.mapProgress
	switch f := r.fill(page); {
	case f != nil:
		r.giveUp(f)
	case r.exceeded():
		r.giveUp(&stateerror.Error{
			Name:  stateerror.Tolerated,
			Cause: "The specified tolerated failure threshold was exceeded",
		})
	case r.All && r.Open == 0:
		r.finish()
	case r.All || r.set.Reader != nil && r.Reading && !r.Later:
	case r.set.Reader != nil:
		r.readNext()
	case r.Open < r.set.Slots: // the children need more than one answer
		r.growth.More = data.Encode(true)
	}
}

// fill starts children.
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
		return &stateerror.Error{
			Name:  stateerror.ItemReader,
			Cause: "the items that were read are no page of items: there is none, and no end",
		}
	}
	return r.batches(page)
}

const (
	maxPageItems = 10_000
	maxPageBytes = 512 << 10
	// patience is how long a free slot waits for others to become free. A page costs a step, so one page is read for
	// several slots. But the children that are open may need those that have not started.
	patience = time.Second
)

// readNext requests the next page: now, if many slots are free, or else later.
func (r *mapRun) readNext() {
	switch many := r.Open <= max(r.set.Slots/2, r.set.Slots-childrenPerAnswer); {
	case many && r.Later:
		r.growth.Drop = append(r.growth.Drop, r.reader())
		r.readMore(r.set.Slots-r.Open, time.Time{})
	case many:
		r.readMore(r.set.Slots-r.Open, time.Time{})
	case !r.Later && r.Open < r.set.Slots: // with more free slots than that, the page would be read at once
		r.readMore(min(r.set.Slots-r.set.Slots/2, childrenPerAnswer), r.Ask.Now.Add(patience))
	}
}

// reader returns the name of the node that reads the last requested page.
func (r *mapRun) reader() string { return readNode + "#" + strconv.Itoa(r.Reads) }

// readMore requests the items for more children, at a time if it is not zero.
func (r *mapRun) readMore(children int, at time.Time) {
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
	r.Reading, r.Later = true, !at.IsZero()
	r.growth.Add = append(r.growth.Add, grow.Spec{
		Name: r.reader(), Kind: grow.Work, Task: ReadItems, Input: atom.MustEncode(query), NoEffect: true, Due: at,
	})
}

// beginRun starts the run of a child.
func (r *mapRun) beginRun(input *data.Value, items int) {
	spec := grow.Spec{
		Input: input.Encoded(), Note: data.Encode(data.Number(int64(items))), Child: r.child(r.Begun, items),
	}
	r.addRun(r.Begun, spec)
	r.Begun++
	r.Items += int64(items)
}

// child returns the run of a child with a number of items.
func (r *mapRun) child(index, items int) *grow.Child {
	return &grow.Child{
		ID: r.childRun(r.set, index), Flow: r.Ask.Run.Flow, Definition: r.Ask.Run.Definition,
		Attributes: r.childAttributes(r.set, index, items),
	}
}

// addRun adds the node of a child.
func (r *mapRun) addRun(index int, spec grow.Spec) {
	spec.Name, spec.Kind = strconv.Itoa(index), grow.Nested
	if r.State.Undoes() {
		spec.Undo = &grow.Undo{}
	} else {
		spec.LeaveUndone(r.State.HasEffect(), r.Machine.Undoes)
	}
	r.growth.Add = append(r.growth.Add, spec)
	r.Open, r.Held = r.Open+1, r.Held+itemsIn(spec.Note)
}

// giveUp ends the map run with an error, after the results that must be written.
func (r *mapRun) giveUp(f *stateerror.Error) {
	r.tell(f)
	if r.set.Target == nil {
		r.end(f)
		return
	}
	r.Error, r.Cause = f.Name, f.Cause
	r.discard()
	r.Unread = !r.All
	r.Drops = r.Open + 1 // at most: the children, and the task that reads
	r.Open, r.Held, r.Reading, r.Later, r.All = 0, 0, false, false, true
	r.drop()
}

// dropsPerAnswer is the number of nodes that one answer drops.
const dropsPerAnswer = childrenPerAnswer

// drop drops open nodes of a map run that gave up, and then ends the map run.
func (r *mapRun) drop() {
	r.growth.DropNext = min(r.Drops, dropsPerAnswer)
	if r.Drops -= r.growth.DropNext; r.Drops > 0 {
		r.growth.More = data.Encode(true)
		return
	}
	r.finish()
}

// end ends the map run, with an error unless f is nil.
func (r *mapRun) end(f *stateerror.Error) {
	r.tell(f)
	r.event("MapRunFailed", errorDetails(f))
	r.discard()
	r.growth.More = nil
	r.over(true)
	r.growth.End = &grow.End{Failure: f.Failure(), Reopen: atom.Null}
}

func (r *mapRun) endWell(result atom.Value) {
	r.event("MapRunSucceeded", nil)
	r.over(false)
	r.growth.End = &grow.End{Value: result}
}

// over records how the map run ended, and its settings, because a retry of the state has other settings.
func (r *mapRun) over(failing bool) {
	r.Ended, r.Failing, r.Limits = r.Ask.Now, failing, r.set.mapLimits
}
