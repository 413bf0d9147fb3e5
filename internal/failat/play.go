package failat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// runID is the ID of every run. Each run has its own store.
const runID = "run"

// mostFaults is the number of failures of an atom that fails for good. Then it succeeds, because some retries never
// end.
//
//limit:tests failures of an atom that fails for good | {} | it succeeds, for retries that never give up
const mostFaults = 30

// played is the course of a run.
type played struct {
	begin, end *snapshot // of the world
	run        storage.Run
	err        error   // why the run did not rest
	points     []point // points at which its process might have died
	steps      []*step
	faults     int             // how often the script made an atom fail
	faulty     int             // number of points before the first of these failures
	waits      []string        // paths of the atoms that still wait, if the run was given up
	way        string          // what it went through
	idle       []string        // tasks of the plan that did not run
	reverts    map[string]bool // by path: whether Ebb can undo the atom
	pivoted    map[string]bool // atoms behind a point of no return, which are not undone
}

// A step is one call of an atom.
type step struct {
	atom.Call

	told        string // the outcome that a Revert was told
	err         error
	made        bool      // the script made it fail
	process     int       // process of the call, from 0
	before, end *snapshot // of the world; nil unless traced
}

// atom returns the path of the atom, with its incarnation from the second on.
func (s *step) atom() string { return Incarnation(s.Path, s.Incarnation) }

// String names the call.
func (s *step) String() string {
	if s.Revert {
		return "undo of " + s.atom()
	}
	return s.atom()
}

// Incarnation names an atom by its path and, from the second on, the number of its incarnation.
func Incarnation(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s@%d", path, n+1)
}

// A player runs one script in one world.
type player struct {
	script script
	world  *Instance
	traced bool // records the world around each call

	answers *answerer // nil if no atom is answered

	mu  sync.Mutex // of the fields below: languages call from goroutines of their own
	out *played
}

// play runs a script in a fresh world.
func (x *Explorer) play(h Host, s script, traced bool) *played {
	p := &player{script: s, traced: traced, out: &played{reverts: map[string]bool{}, pivoted: map[string]bool{}}}
	h.InTime(func(h Host) {
		p.world = h.Fresh()
		p.out.begin = snap(p.world.State())
		p.out.err = p.play()
		p.out.end = snap(p.world.State())
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if traced { // without the calls that the engine abandoned, which may never end
		p.out.steps = slices.DeleteFunc(p.out.steps, func(st *step) bool { return st.end == nil })
	}
	return p.out
}

// play runs processes, one after the other, until the run rests.
func (p *player) play() (err error) {
	ctx := context.Background() // of the final reads of the run
	last, err := p.drive()
	if err != nil {
		p.out.waits = p.waiting(ctx)
		return err
	}
	store, err := p.world.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if p.out.run, err = store.Run(ctx, runID); err != nil {
		return err
	}
	atoms, err := store.Atoms(ctx, runID, storage.AtomQuery{})
	if err != nil {
		return err
	}
	p.out.look(last.plan, atoms)
	return nil
}

// waiting returns the paths of the atoms that wait for an answer.
func (p *player) waiting(ctx context.Context) (paths []string) {
	store, err := p.world.Open()
	if err != nil {
		return nil // the run has failed already
	}
	defer func() { _ = store.Close() }() // it is only read
	atoms, _ := store.Atoms(ctx, runID, storage.AtomQuery{Live: true})
	for i := range atoms {
		if at := &atoms[i]; at.State == states.TaskRunning && at.Ended == grow.EndDeferred {
			paths = append(paths, at.Path)
		}
	}
	return paths
}

// drive returns the process that brought the run to rest.
func (p *player) drive() (last *process, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	if p.world.Limit > 0 {
		ctx, cancel = context.WithTimeout(context.Background(), p.world.Limit)
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	if len(p.world.Answers) > 0 {
		plan, err := flow.CompileOpen(p.world.Flow(), nil)
		if err != nil {
			return nil, err
		}
		p.answers = &answerer{
			script: p.script, answers: p.world.Answers, open: p.world.Open, soon: make(chan struct{}, 1), giveUp: cancel,
		}
		if p.script.fault.how.ofAnswer() {
			p.out.faults = 1
		}
		beside.Go(func() { p.answers.run(ctx, plan) })
	}
	if p.world.Beside != nil {
		beside.Go(func() { p.world.Beside(ctx) })
	}
	last = &process{player: p}
	for err = last.live(ctx); err == nil && last.died(); err = last.live(ctx) {
		last = &process{player: p, number: last.number + 1}
	}
	return last, err
}

// isPivoted reports whether a point of no return protects an atom, or the atom that started its run.
func (out *played) isPivoted(path string) bool {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if out.pivoted[path[:end]] {
			return true
		}
	}
	return false
}

// look records the final states of the atoms.
func (out *played) look(plan *flow.Plan, atoms []storage.Atom) {
	for i := range plan.Atoms {
		a := &plan.Atoms[i]
		called := a.Body() != nil && a.Language == nil && a.Run == nil && a.Signal() == ""
		if called && !slices.ContainsFunc(out.steps, func(st *step) bool {
			return st.Path == a.Name()
		}) {
			out.idle = append(out.idle, a.Name())
		}
	}
	var way strings.Builder
	passed := out.run.Undo == storage.UndonePart
	for _, a := range atoms {
		if a.State != states.TaskSuccess {
			continue
		}
		way.WriteString(a.Path)
		i := plan.Index(a.Path)
		if i >= 0 && a.Kind == storage.KindRetry && len(plan.Atoms[i].Provides()) > 0 {
			fmt.Fprintf(&way, "=%s", a.Result.Data) // it may change the way of the flow
		}
		way.WriteByte('\n')
		passed = passed || i >= 0 && plan.Atoms[i].IsPivot()
		out.pivoted[a.Path] = true
	}
	out.way = way.String()
	if !passed {
		clear(out.pivoted)
	}
}
