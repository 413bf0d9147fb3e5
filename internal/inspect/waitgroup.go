package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A grouping is a Waiting under construction.
type grouping struct {
	Waiting

	facts

	store    backend.Store
	now      time.Time
	refusals map[string]*RunRefusal // of the runs that processes have refused
	groups   map[WaitName]*WaitGroup
	// machine is that of the [WaitingSearch].
	machine func(ctx context.Context, run *storage.Run) *grow.Waiting
	counted func(run string, one RunWait)    // is called with each run of each group; may be nil
	limits  []storage.Limit                  // limits on runs
	places  map[string]*storage.LimitedError // the limit for which runs wait, by flow and labels that limits count
}

func newGrouping(store backend.Store, s WaitingSearch) *grouping {
	return &grouping{
		store: store, now: s.Now, machine: s.Machine, groups: map[WaitName]*WaitGroup{},
		places: map[string]*storage.LimitedError{},
	}
}

// readFacts reads what is known of the whole store: processes, who asks for work, and whether there are limits.
func (g *grouping) readFacts(ctx context.Context) (err error) {
	if g.facts, err = readFacts(ctx, g.store); err != nil {
		return err
	}
	g.refusals = map[string]*RunRefusal{}
	for record, err := range storage.EachRecord(ctx, g.store, storage.RecordQuery{Kind: engine.RefusalRecords}) {
		if err != nil {
			return err
		}
		if r := g.refusal(&record); r != nil {
			g.refusals[record.Key] = r
		}
		if len(g.refusals) == waitingRuns {
			break
		}
	}
	limits, err := g.store.Limits(ctx)
	g.limits = slices.DeleteFunc(limits, func(l storage.Limit) bool { return l.Runs == 0 })
	return err
}

// begin reads the facts of the whole store, counts the open runs, and groups the runs that need a person, the parked
// jobs and the parked messages.
func (g *grouping) begin(ctx context.Context) error {
	if err := g.readFacts(ctx); err != nil {
		return err
	}
	tally, err := g.store.Tally(ctx, storage.RunQuery{States: openStates()}, backend.TallyQuery{Most: waitingOpen})
	if err != nil {
		return err
	}
	for _, n := range tally.Counts {
		g.Open += n
	}
	g.Least = tally.Last != nil
	return errors.Join(g.persons(ctx), g.parkedJobs(ctx), g.unclaimed(ctx), g.messages(ctx))
}

// persons groups the runs that need a person. Some of them have ended.
func (g *grouping) persons(ctx context.Context) error {
	q := storage.RunQuery{Stuck: true, Limit: waitingRuns}
	n, err := g.store.CountRuns(ctx, q)
	if err != nil || n == 0 {
		return err
	}
	q.Limit, q.Reverse, q.Brief = firstOfGroup, true, true
	runs, err := g.store.Runs(ctx, q)
	for i := range runs {
		g.count(&runs[i], "", Wait{Kind: WaitsForPerson, Since: runs[i].Updated})
	}
	if group := g.groups[WaitName{Kind: WaitsForPerson}]; group != nil {
		group.Runs, group.Waits = max(n, group.Runs), max(n, group.Waits)
	}
	g.Least = g.Least || n == waitingRuns
	return err
}

// messages groups the parked messages by their targets. Their runs may have ended.
func (g *grouping) messages(ctx context.Context) error {
	all, err := g.store.ParkedMessages(ctx, maxMessages)
	for i := range all {
		g.count(&storage.Run{ID: all[i].Run}, redact.URL(all[i].Target), Wait{Kind: WaitsForParked})
	}
	g.Least = g.Least || len(all) == maxMessages
	return err
}

// parkedJobs groups the parked jobs that have no run.
func (g *grouping) parkedJobs(ctx context.Context) error {
	list, err := ParkedJobs(ctx, g.store, maxMessages)
	if err != nil || len(list) == 0 {
		return err
	}
	group := &WaitGroup{Kind: WaitsForParkedJob, Waits: len(list)}
	g.groups[WaitName{Kind: WaitsForParkedJob}], g.Least = group, g.Least || len(list) == maxMessages
	for i := range list[:min(firstOfGroup, len(list))] {
		group.First = append(group.First, list[i].ID)
		group.earlier(list[i].Created, time.Time{})
	}
	return nil
}

// unclaimed groups the jobs that no process has claimed by their flows.
func (g *grouping) unclaimed(ctx context.Context) error {
	q := storage.JobQuery{States: []states.Job{states.JobUnclaimed}, Limit: waitingJobs}
	list, err := g.store.JobList(ctx, q)
	if err != nil || len(list) == 0 {
		return err
	}
	waits, err := NewJobWaits(ctx, g.store)
	if err != nil {
		return err
	}
	for i := range list {
		key := WaitName{WaitsForClaimer, list[i].Flow}
		group := g.groups[key]
		if group == nil {
			one, err := waits.Of(ctx, &list[i], g.now)
			if err != nil {
				return err
			}
			group = &WaitGroup{Kind: WaitsForClaimer, Name: list[i].Flow}
			if g.groups[key] = group; one != nil {
				group.Lacks = one.Kind
			}
		}
		if group.Waits++; len(group.First) < firstOfGroup {
			group.First = append(group.First, list[i].ID)
		}
		group.earlier(list[i].Created, time.Time{})
	}
	q.After, q.Limit = &list[len(list)-1], 1
	more, err := g.store.JobList(ctx, q)
	g.Least = g.Least || len(more) > 0
	return err
}

// queued says who asks for the work of the queues that were found, and counts it if not all runs were looked at.
func (g *grouping) queued(ctx context.Context) error {
	for key, group := range g.groups {
		if key.Kind != WaitsForWorker {
			continue
		}
		workers, asked := g.pollers[key.Name]
		if group.Workers, group.Unasked = workers, !asked; !g.Least {
			continue
		}
		n, err := g.store.CountQueued(ctx, key.Name, waitingRuns)
		if err != nil {
			return err
		}
		group.Waits = max(group.Waits, int(n)+group.Taken)
	}
	return nil
}

// add adds what runs wait for.
func (g *grouping) add(ctx context.Context, runs []storage.Run) error {
	list, cut, err := g.store.InProgress(ctx, runs, waitingRecords)
	if err != nil {
		return err
	}
	g.Least = g.Least || cut
	for i := range runs {
		if err := g.addRun(ctx, &runs[i], &list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (g *grouping) addRun(ctx context.Context, run *storage.Run, p *backend.Progress) error {
	if run.NeedsPerson() {
		return nil // begin has counted it
	}
	w := Diagnosis{Run: *run, Timers: p.Timers, Tokens: map[string]*storage.Token{}}
	refusal := g.refusals[run.ID]
	if refusal != nil && !refusal.Of(run) {
		refusal = nil
	}
	g.place(&w, refusal)
	if err := g.limited(ctx, &w); err != nil {
		return err
	}
	if one := w.hindrance(g.now); one != nil {
		g.addWait(run, one)
		return nil
	}
	for i := range p.Tokens {
		w.Tokens[p.Tokens[i].Path] = &p.Tokens[i]
	}
	w.Listens = slices.ContainsFunc(p.Atoms, func(a storage.Atom) bool { return listens(&a) })
	w.Atoms = slices.DeleteFunc(p.Atoms, func(a storage.Atom) bool { return !inMiddle(&a) })
	events := g.events(ctx, &w)
	waits := slices.Concat(w.Waits(g.now), events)
	if len(waits) > 1 { // a run waits for its deadline only if there is nothing else
		waits = slices.DeleteFunc(waits, func(one Wait) bool { return one.Kind == WaitsForDeadline })
	}
	switch {
	case len(waits) > 0:
		for i := range waits {
			g.addWait(run, &waits[i])
		}
	case w.Alive():
		g.count(run, run.Flow, Wait{Kind: WaitsForExecution, Since: run.Updated})
	case !run.Due.IsZero():
		g.count(run, g.soon(run.Due), Wait{Kind: WaitsForTime, Since: run.Updated, Due: run.Due})
	default:
		g.count(run, run.Flow, Wait{Kind: WaitsForMessage, Since: run.Updated})
	}
	return nil
}

// events returns the events that a run waits for, by what its language says.
func (g *grouping) events(ctx context.Context, w *Diagnosis) (waits []Wait) {
	if g.machine == nil || len(w.Run.Memory) == 0 {
		return nil
	}
	if w.Machine = g.machine(ctx, &w.Run); w.Machine == nil {
		return nil
	}
	for _, name := range w.lacks() {
		waits = append(waits, Wait{Kind: WaitsForEvent, Name: name, Since: w.Run.Updated, Due: w.Machine.Due})
	}
	return waits
}

// limited adds to a diagnosis the limit for which a run waits that is due. Runs that the same limits count wait for the
// same one, so the store is asked once for all of them.
func (g *grouping) limited(ctx context.Context, w *Diagnosis) error {
	run := &w.Run
	if len(g.limits) == 0 || run.Owner != "" || run.Hold ||
		run.State != states.FlowPending && (run.Due.IsZero() || run.Due.After(g.now)) {
		return nil
	}
	parts := []string{run.Flow}
	for i := range g.limits {
		if value, has := run.Labels[g.limits[i].Label]; has {
			parts = append(parts, g.limits[i].Label+"="+value)
		}
	}
	key := strings.Join(parts, "\x00")
	known, asked := g.places[key]
	if !asked && len(g.places) < waitingPlaces {
		var err error
		if known, err = g.store.Limited(ctx, run.ID); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		g.places[key] = known
	}
	w.Place = known
	return nil
}

func (g *grouping) addWait(run *storage.Run, one *Wait) {
	var name string
	switch one.Kind {
	case WaitsForWorker:
		name = one.Work
	case WaitsForSignal, WaitsForEvent:
		name = one.Name
	case WaitsForToken, WaitsForRun:
		name = atomName(one.Path)
	case WaitsForOperator, WaitsForPerson, WaitsForDatabase:
	case WaitsForPlace:
		name = one.Limit
	case WaitsForOffer:
		name = strings.Join(one.Needs, ", ")
	default:
		if name = run.Flow; one.Kind.isTimed() {
			name = g.soon(one.Due)
		}
	}
	group := g.count(run, name, *one)
	if one.Kind == WaitsForWorker && one.Worker != "" && (one.Lease.IsZero() || one.Lease.After(g.now)) {
		group.Taken++
	}
}

// later is the name of the groups of times that are more than a day away.
const later = "later"

// soon says how soon a time comes, in steps.
func (g *grouping) soon(due time.Time) string {
	switch left := due.Sub(g.now); {
	case left <= 0:
		return "overdue"
	case left <= time.Minute:
		return "within 1m"
	case left <= time.Hour:
		return "within 1h"
	case left <= 24*time.Hour:
		return "within 1d"
	default:
		return later
	}
}

// atomName returns the name of the atom at a path, without the numbers of its iteration and repetition.
func atomName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if cut, _, found := nodepath.CutIndex(name); found && cut != "" {
		name = cut
	}
	name, _, _ = strings.Cut(name, "#")
	return name
}

// count adds a wait of a run to the group of a name.
func (g *grouping) count(run *storage.Run, name string, one Wait) *WaitGroup {
	key := WaitName{one.Kind, name}
	group := g.groups[key]
	if group == nil {
		group = &WaitGroup{Kind: one.Kind, Name: name}
		g.groups[key] = group
	}
	group.Waits++
	group.earlier(one.Since, one.Due)
	// The waits of a run come one after the other.
	if n := len(group.First); group.last != run.ID {
		group.Runs++
		if g.counted != nil {
			g.counted(run.ID, RunWait{WaitName: key, Path: one.Path, Worker: one.Worker, said: one.hinders(g.now)})
		}
		if group.last = run.ID; n < firstOfGroup {
			group.First = append(group.First, run.ID)
		}
	}
	return group
}

func (w *WaitGroup) earlier(since, due time.Time) {
	if !since.IsZero() && (w.Since.IsZero() || since.Before(w.Since)) {
		w.Since = since.UTC()
	}
	if !due.IsZero() && (w.Due.IsZero() || due.Before(w.Due)) {
		w.Due = due.UTC()
	}
}

// urgency orders kinds of groups: those that do not end by themselves come first.
var urgency = []WaitKind{
	WaitsForDatabase, WaitsForPerson, WaitsForFlow, WaitsForProcess, WaitsForOffer, WaitsForStopped, WaitsForParkedJob,
	WaitsForParked, WaitsForClaimer, WaitsForOperator, WaitsForMemory, WaitsForIsolation, WaitsForPlace, WaitsForSlot,
	WaitsForTake, WaitsForWorker,
	WaitsForToken, WaitsForSignal, WaitsForEvent, WaitsForMessage, WaitsForRun, WaitsForRetry, WaitsForUndoAgain,
	WaitsForTime, WaitsForDeadline,
	WaitsForExecution, WaitsForRevert,
}

// finish returns the groups in their order.
func (g *grouping) finish() Waiting {
	g.Groups = []WaitGroup{}
	for _, group := range g.groups {
		g.Groups = append(g.Groups, *group)
	}
	slices.SortFunc(g.Groups, func(a, b WaitGroup) int {
		due := 0
		if a.Kind.isTimed() && b.Kind.isTimed() {
			due = a.Due.Compare(b.Due)
		}
		return cmp.Or(slices.Index(urgency, a.Kind)-slices.Index(urgency, b.Kind), due, b.Runs-a.Runs,
			cmp.Compare(a.Name, b.Name))
	})
	return g.Waiting
}

// isTimed reports whether the groups of a kind are named by how soon their time comes.
func (k WaitKind) isTimed() bool {
	return slices.Contains([]WaitKind{WaitsForTime, WaitsForRetry, WaitsForUndoAgain, WaitsForDeadline}, k)
}
