package attempts

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/storage"
)

// An Attempt is one that a party outside the run may end, with its token or a signal.
type Attempt struct {
	*scheduler.Unit // nil for a loaded revert of a grown node that the scheduler does not know yet

	Token  storage.Token    // as last read, without its values; ID is "" if only a signal ends the attempt
	Early  *storage.Message // the end that arrived before the attempt's own call ended, or before its unit was known
	Revert bool             // the attempt is a revert; the scheduler knows that it waits

	signal string // name of the signal that ends it; "" if none does
}

// A Table holds the attempts of a run that others may end.
type Table struct {
	Timers

	run   string
	plan  *flow.Plan
	s     *scheduler.Scheduler
	draft *checkpoint.Draft
	cut   float64 // share of a wait that is left out: 1 ends waits at once

	found     []storage.TimerRow  // the timers that the run was loaded with
	open      map[string]*Attempt // by path
	signals   int
	handOvers []handOver                 // calls handed to workers that the scheduler was not told of yet
	withdrawn []Withdrawal               // of which the scheduler was not told yet
	runs      map[string]*scheduler.Unit // the units that wait for the ends of runs
}

// Init prepares the table of a run. A share of each wait is cut off: all of it if cut is 1. Limits of time hold.
func (t *Table) Init(run string, plan *flow.Plan, s *scheduler.Scheduler, draft *checkpoint.Draft, cut float64) {
	t.run, t.plan, t.s, t.draft, t.cut = run, plan, s, draft, cut
	t.open, t.runs = map[string]*Attempt{}, map[string]*scheduler.Unit{}
}

// language returns the language of a growing flow; nil if the flow is planned.
func (t *Table) language() grow.Language { return t.plan.Atoms[0].Language }

// grows reports whether the flow is a growing one, which is then the whole plan.
func (t *Table) grows() bool { return len(t.plan.Atoms) == 1 && t.language() != nil }

// Len returns the number of attempts that parties may end, without child runs.
func (t *Table) Len() int { return len(t.open) }

// At returns the attempt of the unit at a path; nil if no party may end it.
func (t *Table) At(path string) *Attempt { return t.open[path] }

// Of returns the attempt of a unit; nil if no party may end it.
func (t *Table) Of(u *scheduler.Unit) *Attempt { return t.open[u.Path] }

// Signals returns how many attempts have begun to wait for a signal.
func (t *Table) Signals() int { return t.signals }

// Open creates the token of the attempt that a command starts. An attempt that starts again, because its process died,
// keeps its token. Open returns nil if no party may end the attempt.
func (t *Table) Open(cmd *scheduler.Command) *Attempt {
	var limit time.Duration
	var a *Attempt // allocated only for an attempt with a token or a signal, because most have none
	if n := cmd.Unit.Node; n != nil {
		if n.Spec.Token == "" {
			return nil
		}
		limit = n.Spec.Timeout
		a = &Attempt{Unit: cmd.Unit}
		a.Token.ID, a.Token.Heartbeat = n.Spec.Token, n.Spec.Heartbeat
		if a.Token.Queue = QueueOf(n); a.Token.Queue != "" {
			a.Token.Priority = n.Spec.Priority
			a.Token.ScheduleToStart, a.Token.StartToClose = n.Spec.ToStart, n.Spec.ToClose
		}
	} else {
		of := cmd.Unit.Planned
		def := of.Deferral()
		if def == nil {
			return nil
		}
		limit = def.Deadline
		a = &Attempt{Unit: cmd.Unit}
		if a.signal = of.Signal(); a.signal == "" {
			a.Token.ID, a.Token.Heartbeat = tasktoken.New(), def.Heartbeat
		}
	}
	path := a.Path
	if had := t.open[path]; had != nil && (cmd.Unit.Planned != nil || had.Token.ID == a.Token.ID) {
		had.Unit = a.Unit
		return had
	}
	t.add(a, path, limit)
	if a.Token.ID == "" {
		t.signals++
		return a
	}
	a.Token.Incarnation, a.Token.Attempt = int(cmd.Rec.Incarnation), int(cmd.Rec.Attempt)
	if a.Token.Queue != "" {
		cmd.Unit.MarkQueued()
	}
	t.draft.Token(a.Token)
	return a
}

// add makes the run wait for an attempt.
func (t *Table) add(a *Attempt, path string, limit time.Duration) {
	k := &a.Token
	k.Run, k.Path, k.Beat, k.Since = t.run, path, t.draft.Now, t.draft.Now
	if limit > 0 {
		k.Deadline = t.draft.Now.Add(limit)
	}
	t.open[path] = a
	t.Watch(a)
}

// QueueOf returns the queue in which workers find the work of a node that makes no call; "" if there is none.
func QueueOf(n *scheduler.Node) string {
	if n == nil || n.Spec.Task != "" {
		return ""
	}
	return n.Spec.Queue
}

// Close prevents other parties from ending the attempt at a path, unless its token was used.
func (t *Table) Close(path string, used bool) {
	a := t.open[path]
	if a == nil {
		return
	}
	delete(t.open, path)
	t.unwatch(a.limit())
	if !used && a.Token.ID != "" && a.Token.State == storage.TokenOpen {
		t.Shut(a)
	}
	if a.Early != nil {
		t.draft.Take(a.Early.N)
	}
}

// SetToken takes in the token of an attempt as it was read again.
func (a *Attempt) SetToken(k *storage.Token) {
	a.Token = *k // with Details, which its failure will have
	a.Token.Work, a.Token.Result, a.Token.Failure = nil, nil, nil
}

// Load restores the attempts of a loaded run: open tokens, used tokens, which messages in the inbox show, and what only
// a signal or a child run can end.
func (t *Table) Load(snap *backend.Snapshot) {
	nodes := map[string]*scheduler.Unit{}
	for n := range t.s.Open {
		nodes[n.Path] = &n.Unit
	}
	for i := range snap.Tokens {
		t.load(&snap.Tokens[i], nodes)
	}
	open := maps.Clone(t.open)
	for i := range snap.Messages {
		// Otherwise the message is for an earlier attempt.
		if m := &snap.Messages[i]; m.Kind == backend.MessageToken && open[m.Path] == nil {
			t.load(&storage.Token{ID: m.Name, Path: m.Path, State: storage.TokenCompleted}, nodes)
		}
	}
	for i := range t.plan.Atoms {
		u := t.s.Unit(int32(i))
		if signal := u.Planned.Signal(); signal != "" && u.Awaits() && t.open[u.Path] == nil {
			t.open[u.Path] = &Attempt{Unit: u, signal: signal}
		}
	}
	for u := range t.Parents {
		if !ChildOf(u).Detached {
			t.runs[t.RunOf(u)] = u
		}
	}
	t.found = snap.Timers
	for _, row := range snap.Timers { // the other timers are set again with their waits
		if a := t.open[row.Path]; row.Kind == storage.TimerToken && a != nil && a.Unit != nil {
			t.Set(a.limit(), row.Due)
		}
	}
}

func (t *Table) load(k *storage.Token, nodes map[string]*scheduler.Unit) {
	u := nodes[k.Path]
	if i := t.plan.Index(k.Path); u == nil && i >= 0 && !t.grows() {
		u = t.s.Unit(i)
	}
	a := &Attempt{Unit: u}
	a.SetToken(k)
	if u != nil && k.Queue != "" {
		u.MarkQueued()
	}
	if u != nil && u.Planned != nil {
		a.signal = u.Planned.Signal()
	}
	t.open[k.Path] = a
}

// Interrupted reports whether the process died that made the call of the attempt, which is no revert, and the call was
// not made again yet.
func (a *Attempt) Interrupted() bool { return a.Unit != nil && !a.Revert && a.Unit.Interrupted() }

// Interrupted returns the attempts that other parties have ended, and whose calls were interrupted, in the order of
// these ends.
func (t *Table) Interrupted() []*Attempt {
	var ended []*Attempt
	for _, a := range t.open {
		if a.Early != nil && a.Interrupted() {
			ended = append(ended, a)
		}
	}
	slices.SortFunc(ended, func(a, b *Attempt) int { return cmp.Compare(a.Early.N, b.Early.N) })
	return ended
}

// Early yields the executions of nodes that another party has ended, and whose own calls have not ended.
func (t *Table) Early() iter.Seq[*scheduler.Unit] {
	return func(yield func(*scheduler.Unit) bool) {
		for _, a := range t.open {
			if a.Early != nil && !a.Revert && a.Grown() != nil && a.Executes() && !yield(a.Unit) {
				return
			}
		}
	}
}
