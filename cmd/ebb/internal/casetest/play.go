package casetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/virtualtime"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// runID is the id of the run of every case. Each case has a store of its own.
const runID = "case"

// limits bound what a run may become.
//
//limit:command steps of a case's run; bytes that it writes; its child runs | 200,000; 512 MiB; 20,000 | the run
//limit:and fails
var limits = engine.Limits{
	Transitions: 100_000, Atoms: 50_000, Values: 256 << 20, Iterations: 200_000, Bytes: 512 << 20, Descendants: 20_000,
	Depth: 100,
}

// played is the record of a run.
type played struct {
	run     storage.Run
	problem string        // why the run did not come to rest; "" if it did, or only waits
	waiting bool          // the run had not ended at the time limit
	took    time.Duration // virtual time
	path    []string      // states that were entered, in order
	calls   []*made
	missing []string // what was called and has no mock
	others  []string // if missing is not empty: further states without a mock, which the run did not reach
}

// A player plays one case.
type player struct {
	suite *Suite
	of    *Case
	mocks *mocks
	//nolint:containedctx // of the caller: it ends the run, and must not be waited for in virtual time
	real context.Context
	out  *played
}

// play runs a case in virtual time.
func (s *Suite) play(ctx context.Context, c *Case, m definition.Machine) *played {
	p := &player{suite: s, of: c, mocks: newMocks(c, m, s.registry()), real: ctx, out: &played{}}
	virtualtime.Run(func() {
		time.Sleep(time.Until(c.Start))
		if err := p.play(); err != nil {
			p.out.problem = err.Error()
		}
	})
	p.out.calls, p.out.missing, p.out.others = p.mocks.inOrder(), p.mocks.missing, p.mocks.unreached(p.out.path)
	return p.out
}

// registry returns what reads and writes the buckets of distributed Maps, and calls Lambda functions.
func (s *Suite) registry() *tasks.Registry {
	r := &tasks.Registry{}
	for name, folder := range s.File.Buckets {
		r.AddBucket(name, tasks.Folder(folder))
	}
	for _, name := range s.Functions.Names() {
		r.AddFunction(name, s.Functions)
	}
	return r
}

func (p *player) play() (err error) {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), p.of.Limit)
	var beside, apart sync.WaitGroup // must not outlive the bubble
	defer beside.Wait()
	defer apart.Wait()
	defer cancel()
	records := memstore.New()
	if err := p.define(records); err != nil {
		return err
	}
	store := &watched{Store: records, records: records, player: p, ctx: ctx, beside: &beside}
	var eng *engine.Engine
	apartFrom := func(ev engine.Event) { // a run that is not waited for; how it ends does not matter
		if ev.Kind == engine.RunDetached {
			apart.Go(func() { _, _ = eng.Run(ctx, ev.Name, engine.Existing()) })
		}
	}
	eng, err = engine.New(flow.Growing(p.suite.Def.Name, p.mocks.machine), store,
		append(p.options(records), engine.WithObserver(apartFrom))...)
	if err != nil {
		return errors.Join(err, records.Close())
	}
	for _, s := range p.of.Signals {
		beside.Go(func() { send(ctx, records, s) })
	}
	_, err = eng.Run(ctx, runID, p.runOptions()...)
	if err = p.ended(ctx, err); err == nil {
		p.out.took = time.Since(begin)
		apart.Wait() // what they call is a call of the case, too
		err = p.read(records)
	}
	cancel()
	apart.Wait()
	beside.Wait()
	return errors.Join(err, records.Close())
}

func (p *player) input() atom.Value {
	if p.of.Input == nil {
		return atom.FromJSON([]byte("{}"))
	}
	return p.of.Input
}

// ended returns why the run did not come to rest. It returns nil if the run rests or only waits.
func (p *player) ended(ctx context.Context, err error) error {
	if stop := p.real.Err(); stop != nil {
		return stopped(p.real)
	}
	_, failed := errors.AsType[*engine.FailedError](err)
	_, reverted := errors.AsType[*engine.RevertedError](err)
	switch {
	case err == nil, failed, reverted, errors.Is(err, engine.ErrSuspended):
		return nil
	case ctx.Err() != nil:
		p.out.waiting = true
		return nil //nolint:nilerr // the time of the case is over, which its expectation judges
	}
	return err
}

// stopped returns why a case was stopped.
func stopped(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the case took longer than --timeout allows; does the machine go round for ever?")
	}
	return ctx.Err()
}

// read reads the run's record and its path.
func (p *player) read(store backend.Reader) (err error) {
	ctx := context.Background() // the context of the run may have ended
	if p.out.run, err = store.Run(ctx, runID); err != nil {
		return err
	}
	for e, err := range storage.EachEntry(ctx, store, runID, 0) {
		if err != nil {
			return err
		}
		if e.Kind == storage.EntryEvent && strings.HasSuffix(e.Type, "StateEntered") {
			p.out.path = append(p.out.path, e.Path)
		}
	}
	return nil
}

// send sends a signal when it is due. A signal after the end of the run is dropped.
func send(ctx context.Context, store backend.Store, s Signal) {
	t := time.NewTimer(s.After + time.Nanosecond) // a nanosecond later, so that the run exists
	defer t.Stop()
	select {
	case <-ctx.Done():
		return
	case <-t.C:
	}
	if s.Event != nil {
		_ = cloudevents.Tell(ctx, store, runID, *s.Event) // the run has ended
		return
	}
	m := s.Message
	m.Run = runID
	_ = store.Send(ctx, m) // the run has ended
}

// status returns the status of a run in the terms of case files.
func (out *played) status() string {
	switch {
	case out.waiting || !out.run.State.Ended():
		return statusWaiting
	case out.run.State == states.FlowSuccess:
		return statusSuccess
	case out.run.State == states.FlowReverted:
		return statusReverted
	default:
		return statusFailure
	}
}

// A catalog provides the tested machine, also for its child runs, and the machines that it runs.
type catalog struct {
	*definition.Catalog

	hash    string
	machine definition.Machine
}

// Flow implements [engine.Catalog].
func (c *catalog) Flow(ctx context.Context, run *storage.Run) (flow.Node, error) {
	if run.Definition == c.hash {
		return flow.Growing(run.Flow, c.machine), nil
	}
	return c.Catalog.Flow(ctx, run)
}

// watched is a store that stops when the caller stops the case. It also answers the work of activities in place of a
// worker.
type watched struct {
	backend.Store

	player  *player
	records backend.Store   // the store of the worker, which outlives the process of the run
	ctx     context.Context //nolint:containedctx // of the case, in virtual time
	beside  *sync.WaitGroup
}

// Commit commits, unless the caller has stopped the case.
func (w *watched) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if w.player.real.Err() != nil {
		_ = w.Close() // the engine gives up at once
		return storage.ErrClosed
	}
	if err := w.Store.Commit(ctx, claim, cp); err != nil {
		return err
	}
	for i := range cp.Tokens {
		if t := &cp.Tokens[i]; t.Queue != "" && t.State == storage.TokenOpen {
			w.work(ctx, claim.Run, t)
		}
	}
	return nil
}

// work answers the work of an activity.
func (w *watched) work(ctx context.Context, run string, t *storage.Token) {
	call := atom.Call{Run: run, Path: t.Path, Incarnation: t.Incarnation, Attempt: t.Attempt}
	input := t.Work
	if a, err := w.records.Atom(ctx, run, t.Path); err == nil && input == nil {
		input = a.Input.Data
	}
	body := mocked{w.player.mocks, t.Queue}
	id := t.ID
	w.beside.Go(func() {
		result, err := body.Execute(atom.WithCall(w.ctx, &call), atom.Single(input))
		if w.ctx.Err() != nil {
			return
		}
		var failure *atom.Failure
		if err != nil {
			failure = atom.NewFailure(call.Path, call.Attempt, err)
		}
		_, _ = w.records.EndToken(w.ctx, id, storage.TokenEnd{Result: result, Failure: failure}) // it may be late
	})
}
