package failat

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An answerer ends the waits of a run, as a person or another program would. It looks when an atom begins to wait and
// when a process starts. It also looks from time to time, because the process may have died in between.
type answerer struct {
	script  script
	answers map[string]any // by path: the result, or an error
	open    func() (backend.Store, error)
	soon    chan struct{}
	giveUp  func() // ends the case: nothing will end a wait
}

// mostPause is the longest pause between two looks.
const mostPause = 24 * time.Hour

// look makes the answerer look soon.
func (a *answerer) look() {
	if a == nil {
		return
	}
	select {
	case a.soon <- struct{}{}:
	default:
	}
}

// observe makes the answerer look when an atom begins to wait.
func (a *answerer) observe(ev engine.Event) {
	if a != nil && ev.Kind == engine.AtomChanged && ev.To == states.TaskRunning.String() {
		a.look()
	}
}

// run answers until ctx ends.
func (a *answerer) run(ctx context.Context, plan *flow.Plan) {
	store, err := a.open()
	if err != nil {
		return // the processes report it
	}
	defer func() { _ = store.Close() }() // it only sends messages
	for pause := time.Second; ; pause = min(2*pause, mostPause) {
		a.answer(ctx, store, plan)
		if pause >= time.Minute && a.stuck(ctx, store) { // the run has had time to begin something else
			a.giveUp()
			return
		}
		t := time.NewTimer(pause)
		select {
		case <-a.soon:
			pause = time.Second / 2 //nolint:mnd // doubled
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
		t.Stop()
	}
}

// answer ends all present waits. It ignores errors of the store, which a dying process causes, because it looks again.
func (a *answerer) answer(ctx context.Context, store backend.Store, plan *flow.Plan) {
	tokens, err := store.RunTokens(ctx, runID)
	for i := range tokens {
		if to, ok := a.answerTo(tokens[i].Path); ok && err == nil && tokens[i].State == storage.TokenOpen {
			result, failure := to.encoded(tokens[i].Path)
			_, _ = store.EndToken(ctx, tokens[i].ID, storage.TokenEnd{Result: result, Failure: failure})
		}
	}
	atoms, err := store.Atoms(ctx, runID, storage.AtomQuery{Live: true})
	for i := range atoms {
		at := &atoms[i]
		n := plan.Index(at.Path)
		to, ok := a.answerTo(at.Path)
		waits := at.State == states.TaskRunning && at.Ended == grow.EndDeferred
		if err != nil || !ok || !waits || n < 0 || plan.Atoms[n].Signal() == "" {
			continue
		}
		about := atom.Call{Run: runID, Path: at.Path, Incarnation: at.Incarnation}
		result, failure := to.encoded(at.Path)
		_ = store.Send(ctx, storage.Message{
			Run: runID, Kind: grow.MessageSignal, Name: plan.Atoms[n].Signal(), Key: "answer to " + about.Key(),
			Body: result, Failure: failure,
		})
	}
}

// stuck reports whether the run only waits for the answer that does not come, and no timer will end a wait. On a
// database, virtual time until [GiveUp] would take minutes.
func (a *answerer) stuck(ctx context.Context, store backend.Store) bool {
	if a.script.fault.how != unanswered {
		return false
	}
	timers, err := store.RunTimers(ctx, runID)
	if err != nil || len(timers) > 0 {
		return false
	}
	atoms, err := store.Atoms(ctx, runID, storage.AtomQuery{Live: true})
	waits := false
	for i := range atoms {
		switch at := &atoms[i]; {
		case at.State != states.TaskRunning && at.State != states.TaskRetrying && at.State != states.TaskReverting:
		case at.State == states.TaskRunning && at.Ended == grow.EndDeferred:
			waits = true
		default:
			return false
		}
	}
	return err == nil && waits
}

// An answer ends the wait of an atom.
type answer struct{ value any }

// answerTo returns the answer to the atom at a path in this case.
func (a *answerer) answerTo(path string) (answer, bool) {
	value, ok := a.answers[path]
	if f := a.script.fault; ok && f.path == path {
		switch f.how {
		case unanswered:
			return answer{}, false
		case refused:
			return answer{f.err()}, true
		default:
		}
	}
	return answer{value}, ok
}

// encoded returns the answer as a result or a failure.
func (a answer) encoded(path string) (atom.Value, *atom.Failure) {
	if err, is := a.value.(error); is {
		return nil, atom.NewFailure(path, 1, err)
	}
	result, err := atom.Encode(a.value)
	if err != nil {
		return nil, atom.NewFailure(path, 1, errors.Join(errors.New("the answer cannot be encoded"), err))
	}
	return result, nil
}

// GiveUp is the virtual time after which a run that is not answered must have ended.
const GiveUp = 400 * 24 * time.Hour

// Waits reports whether an atom of a flow may wait for an answer.
func Waits(root flow.Node) bool {
	plan, err := flow.CompileOpen(root, nil)
	if err != nil {
		return false // the run reports it
	}
	for _, p := range append([]*flow.Plan{plan}, plan.Children...) {
		for i := range p.Atoms {
			if a := &p.Atoms[i]; a.Signal() != "" || a.Deferral() != nil || a.Language != nil {
				return true
			}
		}
	}
	return false
}
