package failat

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
)

// A process drives the run until it rests, or dies before.
type process struct {
	*player

	number  int // from 0
	store   backend.Store
	plan    *flow.Plan
	stop    context.CancelFunc
	commits int
	dead    bool
}

// live drives the run. It returns an error if the run did not rest and the process did not die.
func (p *process) live(ctx context.Context) (err error) {
	ctx, p.stop = context.WithCancel(ctx)
	defer p.stop()
	if p.store, err = p.world.Open(); err != nil {
		return err
	}
	defer func() {
		if closing := p.store.Close(); !p.died() {
			err = errors.Join(err, closing)
		}
	}()
	eng, err := engine.New(p.world.Flow(), watch(&watched{Store: p.store, begun: p.begun, committed: p.commit}),
		append(slices.Clip(p.world.Options),
			engine.WithParallelism(1),
			engine.WithMiddleware(func(next atom.Body) atom.Body { return body{next, p} }),
			engine.WithObserver(p.observe))...)
	if err != nil {
		return err
	}
	p.plan = eng.Plan()
	p.answers.look()
	res, err := eng.Run(ctx, runID, p.world.Run...)
	if res != nil || p.died() {
		return nil // at rest, with any end, or dead
	}
	return err
}

// observe records which atoms can be undone.
func (p *process) observe(ev engine.Event) {
	p.answers.observe(ev)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ev.Kind == engine.AtomChanged {
		p.out.reverts[pathIn(ev.Run, ev.Path)] = ev.Reverts
	}
}

// pathIn returns the path of an atom within the whole, for an atom of the run or of a run that an atom of it started.
// The ID of such a run is that of the run that started it, a slash, and the path of the atom that started it.
func pathIn(run, path string) string {
	if inside, ok := strings.CutPrefix(run, runID+"/"); ok {
		return inside + "/" + path
	}
	return path
}

func (p *process) canUndo(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.reverts[path]
}

func (p *process) begun() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass(point{})
}

// commit is called concurrently by the drivers of a run and of its children.
func (p *process) commit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	p.pass(point{commit: p.commits})
}

func (p *process) died() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// pass passes a point, or dies there. The caller holds mu.
func (p *process) pass(at point) {
	if p.dead || p.number > 0 {
		return
	}
	p.out.points = append(p.out.points, at)
	if p.dead = len(p.out.points) == p.script.cut; p.dead {
		_ = p.store.Close() // a dead process ignores it
		p.stop()
	}
}

// body wraps the body of a task.
type body struct {
	atom.Body

	p *process
}

func (b body) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return b.p.call(atom.CurrentCall(ctx), "", func() (atom.Value, error) { return b.Body.Execute(ctx, in) })
}

func (b body) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	if about := atom.CurrentCall(ctx); !b.p.canUndo(pathIn(about.Run, about.Path)) {
		return nil, nil // the engine skips atoms without a Revert
	}
	return b.p.call(atom.CurrentCall(ctx), did.String(), func() (atom.Value, error) { return b.Body.Revert(ctx, in, did) })
}

var (
	errDead     = errors.New("enginetest: the process has died")
	errPanicked = errors.New("it panicked")
)

// call makes a call as the script says.
func (p *process) call(about atom.Call, told string, do func() (atom.Value, error)) (v atom.Value, err error) {
	if path := pathIn(about.Run, about.Path); path != about.Path {
		about.Run, about.Path = runID, path // under the same key
	}
	st, err := p.enter(about, told)
	if st == nil {
		return nil, err
	}
	st.err = errPanicked // unless it returns
	defer func() { p.leave(st) }()
	f := p.script.fault
	if !st.made || f.how.works() {
		v, err = do()
	}
	if st.made && err == nil {
		if f.how == panics {
			panic("enginetest lets " + f.path + " panic")
		}
		v, err = nil, f.err()
	}
	st.err = err
	return v, err
}

// enter begins a step, unless the process is dead.
func (p *process) enter(about atom.Call, told string) (*step, error) {
	st := &step{Call: about, told: told, process: p.number}
	if p.traced {
		st.before = snap(p.world.State())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil, errDead
	}
	f, out := p.script.fault, p.out
	limit := mostFaults
	if f.once {
		limit = 1
	}
	if st.made = f.path == about.Path && !f.how.ofAnswer() && !about.Revert && out.faults < limit; st.made {
		if out.faults == 0 {
			out.faulty = len(out.points)
		}
		out.faults++
	}
	out.steps = append(out.steps, st)
	return st, nil
}

func (p *process) leave(st *step) {
	var end *snapshot
	if p.traced {
		end = snap(p.world.State())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	st.end = end
	p.pass(point{call: st})
}
