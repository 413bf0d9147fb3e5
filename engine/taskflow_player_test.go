package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/internal/taskflowtest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A player plays a recorded case through engine and store. Its interrupts happen in the observer, which is called when
// a change is committed and nothing else has happened. A suspension asks the engine. A crash leaves the engine at once,
// by a panic that only the player catches. The next process only has the stored records.
type player struct {
	backend.Store // of the present process

	t       *testing.T
	rec     *conformance.TaskFlowRecord
	opts    []engine.Option
	world   *taskflowtest.World
	records backend.Store        // as they lie there
	join    func() backend.Store // opens it for a process
	eng     *engine.Engine
	watch   *taskflowtest.Watch
	waves   bool     // concurrent atoms end before anything follows from them
	places  []strike // where interrupts happen, if not where the case says

	interrupt *conformance.TaskFlowInterrupt
	hits      int
	told      int    // changes in this segment
	commit    strike // the last one
	fired     bool
	strikes   []strike // number of interrupts that happened
	seen      int64    // lines of history that earlier segments wrote
	executed  map[string]bool
	crashed   bool                       // at some time
	die       func()                     // ends what the process of this segment does
	dead      bool                       // it has died
	last      []conformance.TaskFlowCall // its calls until then
}

// A strike is the place of an interrupt: a commit, by the first and the last of its changes, counted within the segment
// from 1.
type strike struct{ first, last int }

func newPlayer(t *testing.T, rec *conformance.TaskFlowRecord, opts ...engine.Option) *player {
	t.Helper()
	_, declared := taskflowtest.Build(&rec.Case, taskflowtest.NewWorld())
	for symbol := range declared {
		opts = append(opts, engine.WithInputs(atom.NewKey[any](symbol)))
	}
	records := memstore.New()
	return &player{
		t: t, rec: rec, opts: opts, world: taskflowtest.NewWorld(), executed: map[string]bool{},
		records: records, join: func() backend.Store { return records.Join() },
	}
}

// play plays the whole case. A refused flow is an outcome, too.
func (p *player) play() *conformance.TaskFlowOutcome {
	out := &conformance.TaskFlowOutcome{}
	if err := p.begin(); err != nil {
		return &conformance.TaskFlowOutcome{BuildError: refusal(err)}
	}
	p.watch = taskflowtest.NewWatch(p.eng.Plan(), p.faultf)
	for op := "run"; ; {
		p.interrupt = nil
		if n := len(p.strikes); n < len(p.rec.Case.Interrupts) {
			p.interrupt = &p.rec.Case.Interrupts[n]
		}
		run := p.segment(op)
		out.Runs = append(out.Runs, run)
		if !p.fired || !run.Crashed && run.Flow != "SUSPENDED" {
			break
		}
		if op = "reload_run"; p.interrupt.Mode == "suspend" {
			op = "run"
		}
	}
	p.interrupt = nil
	for _, op := range p.rec.Case.After {
		out.Runs = append(out.Runs, p.segment(op))
	}
	out.InterruptsFired = len(p.strikes)
	out.Final = p.final()
	return out
}

func (p *player) faultf(format string, args ...any) {
	p.t.Errorf("%s: "+format, append([]any{p.rec.Name}, args...)...)
}

// begin starts a new process: an engine on a newly built flow, and the stored records.
func (p *player) begin() error {
	if p.Store != nil {
		if err := p.Close(); err != nil {
			return err
		}
	}
	p.Store = p.join()
	root, _ := taskflowtest.Build(&p.rec.Case, p.world)
	eng, err := engine.New(root, p, append(slices.Clone(p.opts), engine.WithObserver(p.observe))...)
	if err != nil {
		return err
	}
	p.eng = eng
	return nil
}

// segment plays from a start to a rest or a crash.
func (p *player) segment(op string) conformance.TaskFlowRun {
	p.hits, p.told, p.fired = 0, 0, false
	if err := p.begin(); err != nil {
		p.t.Fatalf("%s: %v", p.rec.Name, err)
	}
	run := conformance.TaskFlowRun{Op: op}
	run.Raised, run.Crashed = p.drive(op)
	p.crashed = p.crashed || run.Crashed
	run.Calls = p.calls()
	run.Trace = p.trace()
	row, err := p.records.Run(p.t.Context(), p.rec.Name)
	if err != nil {
		p.t.Fatal(err)
	}
	if run.Flow = row.State.String(); !run.Crashed {
		p.watch.Rested(row.State, false)
	}
	return run
}

// drive runs the engine and returns what it raised, or that it crashed. It runs a run that has ended again.
func (p *player) drive(op string) (raised []string, crashed bool) {
	ctx, die := context.WithCancel(p.t.Context())
	defer die()
	p.die, p.dead = die, false
	if op == "reset_run" {
		if err := p.eng.Reset(p.t.Context(), p.rec.Name); err != nil {
			p.t.Fatalf("%s: %v", p.rec.Name, err)
		}
	}
	input := engine.Input(atom.MustEncode(taskflowtest.Inputs(&p.rec.Case)))
	res, err := p.eng.Run(ctx, p.rec.Name, input, engine.Rerun())
	if p.dead {
		return nil, true
	}
	if res == nil {
		p.t.Fatalf("%s: %v", p.rec.Name, err)
	}
	return names(err), false
}

// Commit commits, and records the changes of the commit.
func (p *player) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	if p.dead {
		return errDied
	}
	p.commit = strike{p.told + 1, p.told + len(cp.History)}
	return p.Store.Commit(ctx, c, cp)
}

// observe receives each change, and interrupts the run at the right one.
func (p *player) observe(ev engine.Event) {
	if p.dead {
		return
	}
	p.told++
	if p.waves && (ev.From == "RUNNING" || ev.From == "REVERTING") {
		p.endWave()
	}
	if p.interrupt == nil || p.fired {
		return
	}
	if n := len(p.strikes); n < len(p.places) && p.told == p.places[n].first {
		p.world.Mark()
	}
	if !p.strikesAt(ev) {
		return
	}
	p.fired = true
	p.strikes = append(p.strikes, p.commit)
	if p.interrupt.Mode != "crash" {
		p.eng.Suspend()
		return
	}
	if p.places != nil {
		p.world.Rewind()
	}
	p.dead, p.last = true, p.world.Calls()
	p.die() // no call starts any longer
}

func (p *player) strikesAt(ev engine.Event) bool {
	if p.places != nil {
		n := len(p.strikes)
		return n < len(p.places) && p.told == p.places[n].last
	}
	at := p.interrupt.At
	if ev.Path != at.Atom || ev.Path == "" && ev.To != at.Flow || ev.Path != "" && ev.To != at.State {
		return false
	}
	p.hits++
	return p.hits == max(at.Nth, 1)
}

// endWave ends all running atoms.
func (p *player) endWave() {
	for synctest.Wait(); p.world.Busy() > 0; synctest.Wait() {
		time.Sleep(time.Millisecond)
	}
}

// calls returns the calls of a segment. An atom that never started is not undone, unless it may have started before a
// crash.
func (p *player) calls() []conformance.TaskFlowCall {
	calls := p.world.Calls()
	if p.dead {
		calls = p.last
	}
	for _, call := range calls {
		switch call.Kind {
		case "execute":
			p.executed[call.Atom] = true
		case "revert":
			if !p.executed[call.Atom] && !p.crashed {
				p.faultf("%s is undone, and was never begun", call.Atom)
			}
		}
	}
	return calls
}

// trace returns the changes that a segment committed.
func (p *player) trace() []conformance.TaskFlowChange {
	entries, err := p.records.History(p.t.Context(), p.rec.Name, p.seen, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	var trace []conformance.TaskFlowChange
	plan := p.eng.Plan()
	for i := range entries {
		e := &entries[i]
		p.seen = e.Seq
		if e.Kind == storage.EntryFlow {
			trace = append(trace, conformance.TaskFlowChange{"F", states.Flow(e.From).String(), states.Flow(e.To).String()})
			continue
		}
		a, kind := plan.Index(e.Path), "T"
		if plan.Atoms[a].Kind() == atom.KindRetry {
			kind = "R"
		}
		from, to := states.Task(e.From), states.Task(e.To)
		p.watch.Changed(a, from, to)
		trace = append(trace, conformance.TaskFlowChange{kind, e.Path, from.String(), to.String()})
	}
	return trace
}

// final returns the stored state, as a reader sees it.
func (p *player) final() conformance.TaskFlowFinal {
	if err := p.begin(); err != nil {
		p.t.Fatal(err)
	}
	s, err := p.eng.Recorded(p.t.Context(), p.rec.Name)
	if err != nil {
		p.t.Fatalf("%s: %v", p.rec.Name, err)
	}
	return taskflowtest.Final(&p.rec.Case, p.eng.Plan(), s)
}

// names returns the failures that Run returned, in the form of records.
func names(err error) []string {
	var failures []*atom.Failure
	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
		failures = reverted.Failures
	} else if failed, ok := errors.AsType[*engine.FailedError](err); ok {
		failures = failed.Failures
	}
	var all []string
	for _, f := range failures {
		all = append(all, taskflowtest.Show(f))
	}
	slices.Sort(all)
	return all
}

// refusal returns TaskFlow's name for the reason why a flow is refused.
func refusal(err error) string {
	for kind, word := range map[error]string{
		flow.ErrDuplicate: "Duplicate", flow.ErrMissing: "MissingDependencies",
		flow.ErrAmbiguous: "AmbiguousDependency", flow.ErrCycle: "DependencyFailure",
	} {
		if errors.Is(err, kind) {
			return word
		}
	}
	return err.Error()
}
