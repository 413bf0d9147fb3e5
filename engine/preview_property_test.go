package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPreviewProperty holds random flows at random moments, asks what a cancel would undo, and cancels them. What the
// history then says was undone, and what it says stays done, is what the preview said. The preview has nothing before
// what depended on it. If a revert fails, what was undone before it was in the preview.
//
// Guarantee (G4): Of random flows that are cancelled at random moments, exactly that is undone which `Preview` listed.
func TestPreviewProperty(t *testing.T) {
	const times = 1000
	all, compared := 0, 0
	check(t, times, func(rt *rapid.T) {
		f, p := anyFlow(rt), &previewing{
			parallel: rapid.SampledFrom([]int{1, 4}).Draw(rt, "parallel"), seed: rapid.Uint64Range(1, 1000).Draw(rt, "pace"),
			heldAt: rapid.IntRange(1, 40).Draw(rt, "held at"),
		}
		var err error
		synctest.Test(t, func(t *testing.T) { err = p.live(t.Context(), f.build(newEffects(p.seed))) })
		if err == nil {
			err = p.compare()
		}
		if err != nil {
			rt.Fatalf("%s\nheld at change %d, %d at once: %v", f, p.heldAt, p.parallel, err)
		}
		if all++; len(p.said) > 0 {
			compared++
		}
	})
	if compared < all/4 {
		t.Errorf("only %d of %d previews had something to undo", compared, all)
	}
}

// previewing is a run that is held, and then cancelled.
type previewing struct {
	parallel int
	seed     uint64
	heldAt   int  // number of the change
	grows    bool // the flow grows: it has no plan, and one order of undo

	said  []string // by the preview: path and status
	did   []string // by the history
	stuck bool     // a revert failed
	held  []string // the atoms while the run was held
	ended string   // how the run ended
}

// live runs a flow until it is held or has succeeded, asks for the preview, and cancels the run.
func (p *previewing) live(ctx context.Context, root flow.Node, opts ...engine.Option) error {
	store := memstore.New()
	defer func() { _ = store.Close() }()
	changes := 0
	var sent error
	opts = append(opts, engine.WithStore(store), engine.WithParallelism(p.parallel),
		engine.WithObserver(func(engine.Event) {
			if changes++; changes == p.heldAt {
				sent = engine.Send(ctx, store, "r", engine.Hold())
			}
		}))
	eng, err := engine.New(root, memstore.New(), opts...)
	if err != nil {
		return err
	}
	for {
		res, err := eng.Run(ctx, "r")
		switch {
		case errors.Is(err, engine.ErrSuspended):
			if changes < p.heldAt { // its undo failed
				return sent
			}
			return errors.Join(sent, p.cancel(ctx, eng, store))
		case res == nil:
			return err
		case res.Run.State == states.FlowSuccess && changes < p.heldAt:
			changes = p.heldAt // do not hold its undo
			return p.cancel(ctx, eng, store)
		case res.Run.State.Ended():
			return sent // before it was held
		}
	}
}

// cancel compares what a cancel of a held run would do with what it does.
func (p *previewing) cancel(ctx context.Context, eng *engine.Engine, store backend.Store) error {
	before, err := store.Run(ctx, "r")
	if err != nil {
		return err
	}
	cancel, plan := engine.Cancel("enough"), eng.Plan()
	var paths []string
	for step, err := range eng.Preview(ctx, "r", cancel) {
		if err != nil {
			return err
		}
		if step.Stops {
			continue
		}
		for _, earlier := range paths { // what is undone first must not have come before it
			if !p.grows && plan.Index(earlier) != plan.Index(step.Path) && comesBefore(plan, plan.Index(earlier), plan.Index(step.Path)) {
				return fmt.Errorf("the preview undoes %s before %s, which depended on it", earlier, step.Path)
			}
		}
		paths = append(paths, step.Path)
		p.said = append(p.said, step.Path+" "+string(step.Status))
	}
	atoms, err := store.Atoms(ctx, "r", storage.AtomQuery{})
	if err != nil {
		return err
	}
	reverts := map[string]bool{}
	undo := func(path string) { // it is REVERTING
		if said := path + " " + states.TaskReverted.String(); reverts[path] && !slices.Contains(p.did, said) {
			p.did = append(p.did, said)
		}
	}
	for i := range atoms {
		p.held = append(p.held, fmt.Sprint(atoms[i].Path, " ", atoms[i].State, " ", atoms[i].Intention))
		reverts[atoms[i].Path] = atoms[i].Kind == storage.KindTask && !atoms[i].UndoPasses()
		if atoms[i].State == states.TaskReverting {
			undo(atoms[i].Path)
		}
	}
	res, err := eng.Command(ctx, "r", cancel)
	if res == nil {
		return err
	}
	p.ended = fmt.Sprintf("%v %v (%v)", res.Run.State, res.Run.Outcome, err)
	entries, err := store.History(ctx, "r", before.Entries, 0)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Kind == storage.EntryStays, e.Kind == storage.EntryMayStay:
			p.did = append(p.did, e.Path+" "+string(e.Status()))
		case e.Kind != storage.EntryAtom:
		case states.Task(e.To) == states.TaskReverting:
			undo(e.Path)
		case states.Task(e.To) == states.TaskRevertFailure:
			p.stuck = true
		}
	}
	return nil
}

// compare returns an error unless the history says what the preview said.
func (p *previewing) compare() error {
	if !p.grows {
		slices.Sort(p.said)
		slices.Sort(p.did)
	}
	said := p.said
	if p.stuck {
		said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return !slices.Contains(p.did, s) })
	}
	if diff := cmp.Diff(said, p.did, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("held as %q, ended as %s, the preview (-) and the history (+) differ:\n%s", p.held, p.ended, diff)
	}
	return nil
}

// comesBefore reports whether an atom of a plan can only begin after another one.
func comesBefore(plan *flow.Plan, first, then int32) bool {
	seen := map[int32]bool{}
	var reach func(node int32) bool
	reach = func(node int32) bool {
		if seen[node] {
			return false
		}
		seen[node] = true
		return plan.Nodes[node].Kind == flow.AtomNode && plan.Nodes[node].Atom == then ||
			slices.ContainsFunc(plan.Succ(node), reach)
	}
	return slices.ContainsFunc(plan.Succ(plan.Atoms[first].Node), reach)
}
