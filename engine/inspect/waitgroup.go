package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A grouping is a Waiting under construction.
type grouping struct {
	Waiting

	store  storage.Store
	now    time.Time
	owners map[string]*storage.Owner
	asking map[string][]string // workers that ask for work, by queue
	groups map[WaitName]*WaitGroup
	// machine is that of the [WaitingSearch].
	machine func(ctx context.Context, run *storage.Run) *flow.Waiting
	counted func(run string, one RunWait) // is called with each run of each group; may be nil
	limits  bool                          // there are limits on runs
	places  int                           // runs whose limit may still be read
}

func newGrouping(store storage.Store, s WaitingSearch) *grouping {
	return &grouping{
		store: store, now: s.Now, machine: s.Machine, groups: map[WaitName]*WaitGroup{}, places: waitingPlaces,
	}
}

// readFacts reads what is known of the whole store: processes, who asks for work, and whether there are limits.
func (g *grouping) readFacts(ctx context.Context) error {
	owners, err := g.store.Owners(ctx)
	if err != nil {
		return err
	}
	g.owners = make(map[string]*storage.Owner, len(owners))
	for i := range owners {
		g.owners[owners[i].ID] = &owners[i]
	}
	present, err := presences(ctx, g.store, owners)
	if err != nil {
		return err
	}
	g.asking = pollersOf(g.store, present)
	limits, err := g.store.Limits(ctx)
	if err != nil {
		return err
	}
	g.limits = slices.ContainsFunc(limits, func(l storage.Limit) bool { return l.Runs > 0 })
	return nil
}

// begin reads the facts of the whole store, counts the open runs, and groups the runs that need a person, the parked
// jobs and the parked messages.
func (g *grouping) begin(ctx context.Context) error {
	if err := g.readFacts(ctx); err != nil {
		return err
	}
	tally, err := g.store.Tally(ctx, storage.RunQuery{States: openStates()}, storage.TallyQuery{Most: waitingOpen})
	if err != nil {
		return err
	}
	for _, n := range tally.Counts {
		g.Open += n
	}
	g.Least = tally.Last != nil
	return errors.Join(g.persons(ctx), g.jobs(ctx), g.messages(ctx))
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

// jobs groups the parked jobs.
func (g *grouping) jobs(ctx context.Context) error {
	counts, err := g.store.JobCounts(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(counts, func(c storage.JobCount) bool { return c.State == states.JobParked })
	if at < 0 {
		return nil
	}
	group := &WaitGroup{Kind: WaitsForParkedJob, Waits: counts[at].Jobs}
	g.groups[WaitName{Kind: WaitsForParkedJob}] = group
	first, err := g.store.JobList(ctx, storage.JobQuery{States: []states.Job{states.JobParked}, Limit: firstOfGroup})
	for i := range first {
		group.First = append(group.First, first[i].ID)
		group.earlier(first[i].Created, time.Time{})
	}
	return err
}

// queued says who asks for the work of the queues that were found, and counts it if not all runs were looked at.
func (g *grouping) queued(ctx context.Context) error {
	for key, group := range g.groups {
		if key.Kind != WaitsForWorker {
			continue
		}
		workers, asked := g.asking[key.Name]
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

func (g *grouping) addRun(ctx context.Context, run *storage.Run, p *storage.Progress) error {
	w := Diagnosis{Run: *run, Owner: g.owners[run.Owner], Timers: p.Timers, Tokens: map[string]*storage.Token{}}
	due := !run.Due.IsZero() && !run.Due.After(g.now)
	switch {
	case run.NeedsPerson():
		return nil // begin has counted it
	case run.Hold:
		g.count(run, "", Wait{Kind: WaitsForOperator, Since: run.Updated})
		return nil
	case !w.Alive() && (due || run.Owner != ""):
		return g.addIdle(ctx, run)
	}
	for i := range p.Tokens {
		w.Tokens[p.Tokens[i].Path] = &p.Tokens[i]
	}
	w.Atoms = slices.DeleteFunc(p.Atoms, func(a storage.Atom) bool { return !inMiddle(&a) })
	waits := slices.Concat(w.Waits(), g.events(ctx, &w))
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

// addIdle adds a run that is due and that no process drives.
func (g *grouping) addIdle(ctx context.Context, run *storage.Run) error {
	if g.limits && g.places > 0 && run.Owner == "" {
		g.places--
		switch limited, err := g.store.Limited(ctx, run.ID); {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return err
		case err == nil && limited != nil:
			g.count(run, limited.Reason(), Wait{Kind: WaitsForPlace, Since: run.Due})
			return nil
		}
	}
	g.count(run, run.Flow, Wait{Kind: WaitsForProcess, Since: run.Due})
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
			g.counted(run.ID, RunWait{WaitName: key, Path: one.Path, Worker: one.Worker})
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
	WaitsForPerson, WaitsForProcess, WaitsForParkedJob, WaitsForParked, WaitsForOperator, WaitsForPlace, WaitsForWorker,
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
