package checkpoint

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Draft is the checkpoint that a run commits next. Set Dirty after each direct change of the checkpoint.
type Draft struct {
	backend.Checkpoint // Head is the run's head after the commit

	Dirty bool      // the checkpoint contains a change
	Now   time.Time // when the changes were decided

	run   string
	plan  *flow.Plan
	quiet bool // store no history

	lines     int           // number of history lines, stored or not
	settled   int64         // bytes that the run has written up to the last commit
	forgotten storage.Entry // the last line of a history that is not stored
	payloads  payloads
	attempts  []Attempt                  // attempts of the atoms of the plan
	overflows map[int32]overflow         // by atom: retries with many tries
	grown     map[*scheduler.Unit]*grown // data of open nodes and child flows
	ending    []*scheduler.Unit          // keys of grown to drop with the next commit
	earlier   map[string]earlier         // data of loaded grown atoms, by path, until they are used
	issued    map[int64]storage.Entry    // by number: lines for the messages of people that are not taken yet
	answers   map[int64]string           // by number: tokens for the answers to commands that are not judged yet
	listed    map[int64]bool             // numbers of messages whose lines the history has
	at        map[string]int             // index in Atoms, by path of a grown atom; nil while there are few
}

// Init prepares the draft of a run of the plan. If quiet is true, lines of history are counted and not stored.
func (d *Draft) Init(plan *flow.Plan, run string, quiet bool, head backend.Head) {
	d.plan, d.run, d.quiet = plan, run, quiet
	d.Head, d.settled = head, head.Bytes
	d.attempts, d.grown, d.earlier = make([]Attempt, len(plan.Atoms)), map[*scheduler.Unit]*grown{}, map[string]earlier{}
}

// maxLines bounds the lines of history in one commit: changes that start no call wait for the next commit, but not
// without limit.
//
//limit:storage lines of history in one commit of a run | {} | a commit of its own
const maxLines = 1000

// maxBytes bounds the bytes in one commit.
//
//limit:storage bytes in one commit of a run | {B}, plus one step | a commit of its own
const maxBytes = 8 << 20

// Full reports whether the draft must be committed before it grows further.
func (d *Draft) Full() bool {
	return d.lines >= maxLines || d.Head.Bytes-d.settled >= maxBytes
}

// Renew empties the draft after it was committed, and keeps its buffers.
func (d *Draft) Renew() {
	head := d.Head
	head.Seq++
	head.Memory = nil
	empty(&d.Checkpoint)
	d.Head, d.Dirty = head, false
	d.at, d.lines, d.settled = nil, 0, head.Bytes
	for _, key := range d.ending {
		delete(d.grown, key)
	}
	clear(d.ending)
	d.ending = d.ending[:0]
}

// lineSize is the size in bytes of a line of history, a record or an entry of the undo stack, without its texts and
// values.
const lineSize = 32

// wrote counts bytes that the run writes.
func (d *Draft) wrote(n int) { d.Head.Bytes += int64(n) }

// line adds a line to the history, which the caller fills in. If no history is stored, the line is dropped.
func (d *Draft) line(kind storage.EntryKind) *storage.Entry {
	d.lines++
	if d.quiet {
		d.forgotten = storage.Entry{}
		return &d.forgotten
	}
	d.Head.Entries++
	d.wrote(lineSize)
	e := extend(&d.History)
	e.Seq, e.Kind, e.Time = d.Head.Entries, kind, d.Now
	return e
}

// FlowState records that the run's own state has changed.
func (d *Draft) FlowState(cmd *scheduler.Command) {
	d.Dirty, d.Head.State = true, cmd.FlowTo
	if cmd.FlowTo == states.FlowRunning && !d.Head.AsksPerson() { // what stopped the run is over
		if d.Head.Undo == storage.UndoFailed {
			d.Head.Undo = storage.UndonePart
		}
		if d.Head.Outcome == storage.Unfinished {
			d.Head.Failure = nil
		}
	}
	entry := d.line(storage.EntryFlow)
	entry.From, entry.To = uint8(cmd.FlowFrom), uint8(cmd.FlowTo)
}

// Stays adds a line to the history: the undo has passed an atom that nothing reverts. Stays returns the line, which is
// valid until the next line.
func (d *Draft) Stays(cmd *scheduler.Command) *storage.Entry {
	d.Dirty = true
	kind := storage.EntryStays
	if cmd.Rec.OutcomeUnknown() {
		kind = storage.EntryMayStay
	}
	entry := d.line(kind)
	entry.Path = cmd.Unit.Path
	entry.Kind, entry.From, entry.To = kind, uint8(cmd.Rec.State), uint8(cmd.Rec.State)
	entry.Incarnation, entry.Attempt = int(cmd.Rec.Incarnation), int(cmd.Rec.Attempt)
	if !d.quiet {
		d.wrote(len(entry.Path))
	}
	return entry
}

// Events appends to the language's own history.
func (d *Draft) Events(cmd *scheduler.Command) {
	d.Dirty = true
	untold := cmd.Untold
	if d.quiet {
		untold += int64(len(cmd.Events))
	}
	d.Head.Events, d.Untold, d.lines = d.Head.Events+untold, d.Untold+untold, d.lines+int(cmd.Untold)
	for i := range cmd.Events {
		ev := &cmd.Events[i]
		entry := d.line(storage.EntryEvent)
		if d.quiet {
			continue
		}
		d.Head.Events++
		entry.Path, entry.Number, entry.Prev, entry.Type = ev.Name, d.Head.Events, ev.Prev, ev.Type
		entry.Flow = cmd.Scope.Path
		entry.Details, entry.Key, entry.Body = ev.Details, ev.Key, d.Hold(ev.Body)
		d.wrote(len(ev.Name) + len(entry.Flow) + len(ev.Type) + len(ev.Details) + inlined(entry.Body))
	}
}

// Timer sets when a timer is due; a zero time deletes it.
func (d *Draft) Timer(path string, kind storage.TimerKind, due time.Time) {
	d.Dirty = true
	d.Timers = append(d.Timers, storage.TimerRow{Run: d.run, Path: path, Kind: kind, Due: due})
}

// Send adds a message to another run.
func (d *Draft) Send(m storage.Message) {
	m.Sent = d.Now
	d.Messages, d.Dirty = append(d.Messages, m), true
}

// Create adds a child run. The run writes the input of its child, which has a copy of its own.
func (d *Draft) Create(child storage.Run) {
	d.wrote(lineSize + len(child.ID) + len(child.Input.Data) + len(child.Attrs))
	d.Children, d.Dirty = append(d.Children, child), true
}

// Token adds a token, or a new state of one.
func (d *Draft) Token(t storage.Token) { d.Tokens, d.Dirty = append(d.Tokens, t), true }

// Use changes an open token for a caller. A further change of the token replaces the first: what is compared is how the
// token was before the checkpoint.
func (d *Draft) Use(u backend.TokenUse) {
	d.Dirty = true
	for i := range d.Used {
		if d.Used[i].Token.ID == u.Token.ID {
			d.Used[i].Token = u.Token
			return
		}
	}
	d.Used = append(d.Used, u)
}

// Take deletes a message from the inbox.
func (d *Draft) Take(n int64) {
	if n > 0 {
		d.Taken, d.Dirty = append(d.Taken, n), true
		d.Judged(n, nil)
	}
}
