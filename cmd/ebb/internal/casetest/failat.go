package casetest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/virtualtime"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/failat"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage/memstore"
)

// maxFailures is how many failures and crashes are tried on one case. If there are more, an even selection is tried.
const maxFailures = 1000

// FailAt is the result of the failures and crashes that were tried on one case.
type FailAt struct {
	Tried    int       `json:"tried"`             // how many failures and crashes
	Findings []Finding `json:"findings"`          // tries that leave something done, or change how the run ends
	Skipped  string    `json:"skipped,omitempty"` // why nothing was tried, or not all; "" if all was
	Allowed  bool      `json:"allowed"`           // the definition undoes nothing, so that work may stay done
}

// A Finding is one failure or crash with what it leaves.
type Finding struct {
	Name      string   `json:"name"`                 // such as Pay/before_effect or crash_after_commit_3
	Story     string   `json:"story"`                // what was made to happen
	Status    string   `json:"status"`               // how the run ended
	StaysDone []string `json:"stays_done,omitempty"` // paths of tasks whose work is neither undone nor harmless
	Wrong     string   `json:"wrong,omitempty"`      // what else is wrong; "" if only work stays done
}

// Bad returns how many findings fail the case.
func (f *FailAt) Bad() int {
	n := 0
	for i := range f.Findings {
		if f.Findings[i].Wrong != "" || !f.Allowed {
			n++
		}
	}
	return n
}

// FailAt lets each task of a case fail in each way, and its process die at each point, in runs of their own. The case
// must succeed by itself.
func (s *Suite) FailAt(ctx context.Context, c *Case, timeout time.Duration) *FailAt {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &FailAt{Findings: []Finding{}, Allowed: !s.undoes()}
	h := &worlds{suite: s, of: c, real: ctx, machine: s.Def.Machine}
	x := failat.New(failat.World{Codes: s.codes, Honest: true, Most: maxFailures, Class: nodepath.Unnumbered})
	if problem := x.Prepare(h); problem != "" {
		switch out.Skipped = problem; {
		case ctx.Err() != nil:
			out.Skipped = stopped(ctx).Error()
		case len(h.last.calls) == 0:
			out.Skipped = "the case calls no task"
		case problem == failat.NothingSeen:
			out.Skipped = "no task of the case succeeds and has an effect, so nothing could stay done"
		}
		return out
	}
	for _, try := range x.Cases(h) {
		if ctx.Err() != nil {
			out.Skipped = "the time was up before all was tried; --timeout allows more"
			return out
		}
		out.Tried++
		if found := x.Try(h, try); found != nil && ctx.Err() == nil {
			out.Findings = append(out.Findings, finding(found))
		}
	}
	return out
}

// undoes reports whether something in the definition is undone.
func (s *Suite) undoes() bool {
	for _, d := range s.Flows {
		if d.Machine.Undoes() {
			return true
		}
	}
	return false
}

// codes returns the errors that the state of an atom handles.
func (s *Suite) codes(path string) []string {
	for _, d := range s.Flows {
		for _, name := range d.Machine.Names(path, "") {
			if codes := d.Machine.Errors(name); len(codes) > 0 {
				return codes
			}
		}
	}
	return nil
}

// finding converts a finding of package failat to the terms of machines.
func finding(found *failat.Finding) Finding {
	f := Finding{Name: found.Case, Story: found.Story, Status: found.State.String()}
	for _, change := range found.Changes {
		name, is := strings.CutPrefix(change.Place, "State[")
		path, err := strconv.Unquote(strings.TrimSuffix(name, "]"))
		if is && err == nil && change.Got == strconv.Quote(done) {
			f.StaysDone = append(f.StaysDone, path)
			continue
		}
		f.Wrong = found.What // something is undone that should not be, or not done
	}
	if found.End || len(f.StaysDone) == 0 || strings.Contains(found.Case, "crash_") {
		f.Wrong = found.What
	}
	slices.Sort(f.StaysDone)
	return f
}

// done is the value that the world has for a task whose work was done and not undone.
const done = "done"

// effects records the work of mocked tasks that was not undone. A task that is called again under the same key does its
// work once.
type effects struct {
	records backend.Reader
	undoes  bool // the machine undoes something, so it declares which tasks have no effect

	mu       sync.Mutex
	standing map[string]string // by the path of the task
}

// harmless reports whether the definition says that the task that is called has no effect.
func (e *effects) harmless(call *atom.Call) bool {
	if !e.undoes {
		return false
	}
	a, err := e.records.Atom(context.Background(), call.Run, call.Path)
	var spec grow.Spec
	return err == nil && a.Spec.Decode(&spec) == nil && spec.Undo == nil
}

func (e *effects) state() any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.standing)
}

// called records the effect of a call that succeeded.
func (e *effects) called(call *atom.Call) {
	if e == nil || e.harmless(call) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	path := call.Path
	if _, in, inside := strings.Cut(call.Run, "/"); inside { // a run that the case's run started
		path = in + "/" + path
	}
	if call.Revert {
		delete(e.standing, path)
		return
	}
	e.standing[path] = done
}

// worlds creates a world for each run that is tried.
type worlds struct {
	suite   *Suite
	of      *Case
	real    context.Context //nolint:containedctx // of the caller, see player
	machine definition.Machine
	last    *mocks // of the latest world
}

// InTime implements [failat.Host].
func (h *worlds) InTime(f func(failat.Host)) { virtualtime.Run(func() { f(h) }) }

// Logf implements [failat.Host]. It drops all messages, because only findings are reported.
func (*worlds) Logf(string, ...any) {}

// Fresh implements [failat.Host].
func (h *worlds) Fresh() *failat.Instance {
	time.Sleep(time.Until(h.of.Start))
	p := &player{
		suite: h.suite, of: h.of, mocks: newMocks(h.of, h.machine, h.suite.registry()), real: h.real, out: &played{},
	}
	h.last = p.mocks
	records := memstore.New()
	p.mocks.effects = &effects{records: records, undoes: h.suite.undoes(), standing: map[string]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	return &failat.Instance{
		Flow:    func() flow.Node { return flow.Growing(h.suite.Def.Name, h.machine) },
		Options: p.options(records),
		Run:     p.runOptions(),
		State:   p.mocks.effects.state,
		Limit:   h.of.Limit,
		Open: func() (backend.Store, error) {
			err := p.define(records)
			return &watched{Store: records.Join(), records: records, player: p, ctx: ctx, beside: &beside}, err
		},
		Beside: func(running context.Context) {
			for _, s := range h.of.Signals {
				beside.Go(func() { send(ctx, records, s) })
			}
			<-running.Done()
			cancel()
			beside.Wait()
		},
	}
}

// define stores the definitions of the runs that the case's run may start.
func (p *player) define(store backend.Store) error {
	for _, d := range p.suite.Flows {
		if _, err := store.PutDefinition(context.Background(), d.Definition); err != nil {
			return err
		}
	}
	return nil
}

// options returns the options of each engine that drives the run.
func (p *player) options(records backend.Store) []engine.Option {
	return []engine.Option{
		engine.WithTasks(p.mocks), engine.WithLimits(limits),
		engine.WithCatalog(&catalog{&definition.Catalog{Store: records}, p.suite.Def.Hash, p.mocks.machine}),
	}
}

// runOptions returns the options with which the run starts.
func (p *player) runOptions() []engine.RunOption {
	return []engine.RunOption{
		engine.Input(p.input()), engine.OnDefinition(p.suite.Def.Hash),
		engine.Attributes(p.suite.beginning.Attributes(asl.Attributes{})),
	}
}
