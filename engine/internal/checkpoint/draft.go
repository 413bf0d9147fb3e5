package checkpoint

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A Draft is the checkpoint that a run commits next. Set Dirty with whatever is put into it
// directly.
type Draft struct {
	storage.Checkpoint // with the Head as it is to be after the commit

	Dirty bool      // it holds something
	Now   time.Time // when what it holds was decided on

	run   string
	plan  *flow.Plan
	quiet bool // no history is kept

	lines     int           // of history, kept or not
	settled   int64         // bytes that the run has written with the last commit
	forgotten storage.Entry // the last line of a history that is not kept
	payloads  payloads
	attempts  []Attempt          // of the atoms of the plan
	overflows map[int32]overflow // of retries with many tries
	grown     map[any]*grown     // of open nodes and child flows
	ending    []any              // keys of grown that are dropped with the next commit
	earlier   map[string]Attempt // of grown atoms that were loaded, by path, until they are met
	at        map[string]int     // where in Atoms a path is that has grown; nil while there are few
}

// Init prepares the draft of a run of the plan. Without history, lines are counted and not kept.
func (d *Draft) Init(plan *flow.Plan, run string, quiet bool, head storage.Head) {
	d.plan, d.run, d.quiet = plan, run, quiet
	d.Head, d.settled = head, head.Bytes
	d.attempts, d.grown, d.earlier = make([]Attempt, len(plan.Atoms)), map[any]*grown{}, map[string]Attempt{}
}

// maxLines is how many lines of history may wait for one commit: what only
// computes rides along with what does not, but not for ever.
const maxLines = 1000

// maxBytes is how many bytes may wait for one commit.
const maxBytes = 8 << 20

// Full reports whether the draft is to be committed before it grows further.
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

// lineSize is what a line of history, a record or an entry of the undo stack counts
// beside the texts and values in it.
const lineSize = 32

// wrote counts bytes that the run writes.
func (d *Draft) wrote(n int) { d.Head.Bytes += int64(n) }

// line adds a line to the history, which is the caller's to fill in. When none is
// kept, the line is forgotten.
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
	entry := d.line(storage.EntryFlow)
	entry.From, entry.To = uint8(cmd.FlowFrom), uint8(cmd.FlowTo)
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
		entry.Details, entry.Key, entry.Body = ev.Details, ev.Key, d.Hold(ev.Body)
		d.wrote(len(ev.Name) + len(ev.Type) + len(ev.Details) + inlined(entry.Body))
	}
}

// Timer sets when a timer is due; the zero time deletes it.
func (d *Draft) Timer(path string, kind storage.TimerKind, due time.Time) {
	d.Dirty = true
	d.Timers = append(d.Timers, storage.TimerRow{Run: d.run, Path: path, Kind: kind, Due: due})
}

// Send adds a message to another run.
func (d *Draft) Send(m storage.Message) {
	m.Sent = d.Now
	d.Messages, d.Dirty = append(d.Messages, m), true
}

// Token adds a token, or the end of one.
func (d *Draft) Token(t storage.Token) { d.Tokens, d.Dirty = append(d.Tokens, t), true }

// Take removes a message from the inbox.
func (d *Draft) Take(n int64) {
	if n > 0 {
		d.Taken, d.Dirty = append(d.Taken, n), true
	}
}
