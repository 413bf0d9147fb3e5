package draft

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/virtualtime"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// limits bound what a trial may become: the process keeps several of them in memory.
var limits = engine.Limits{
	Transitions: 10_000, Atoms: 10_000, Values: 16 << 20, Iterations: 20_000, Bytes: 8 << 20, Descendants: 1000, Depth: 20,
	Memory: -1,
}

const (
	virtualLimit = 365 * 24 * time.Hour // after which a run that has not ended counts as waiting
	runID        = "trial"
	usualName    = "flow" // of a flow without a name
)

// errTooLong is the error if a trial takes too much real time.
var errTooLong = errors.New("the run did not end in time: does the machine go round for ever?")

// Try implements [api.Languages].
func (l *Languages) Try(ctx context.Context, t *api.TrialRequest) (backend.Store, string, error) {
	name := t.Name
	if name == "" {
		name = usualName
	}
	m, err := definition.FromText([]byte(t.Text)).Compile(l.reading(&t.Draft))
	if err != nil {
		return nil, "", err
	}
	mocks, err := mocksOf(t, name)
	if err != nil {
		return nil, "", err
	}
	input := t.Input
	if input == nil {
		input = atom.FromJSON([]byte("{}"))
	}
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	case <-ctx.Done():
		return nil, "", errors.New("too many definitions are being tried; try again")
	}
	trial := &trial{
		real: ctx, machine: m, def: stored(name, m), input: input,
		tasks: &tasks.Registry{Mocks: mocks, OnlyMocks: true},
	}
	begin := time.Now()
	virtualtime.Run(func() { //nolint:contextcheck // the run has a context in virtual time
		time.Sleep(time.Until(begin))
		err = trial.run()
	})
	if err != nil {
		return nil, "", err
	}
	return trial.records.Join(), runID, nil // its own channels: those of the bubble must not be used outside
}

// mocksOf reads the mocks in either of their forms.
func mocksOf(t *api.TrialRequest, name string) (*tasks.Mocks, error) {
	if t.Mocks == nil {
		return nil, nil //nolint:nilnil // no state has one
	}
	text := []byte(t.Mocks.String())
	var file map[string]json.RawMessage
	if json.Unmarshal(text, &file) == nil && file["MockedResponses"] != nil {
		return tasks.ParseMocks("mocks", text, name, t.Case)
	}
	return tasks.ParseStateMocks("mocks", text)
}

// A trial is a run in memory.
type trial struct {
	//nolint:containedctx // of the caller: it ends the run, and must not be waited for in virtual time
	real    context.Context
	machine definition.Machine
	def     storage.Definition
	input   atom.Value
	tasks   *tasks.Registry
	records *memstore.Store
}

// run runs the definition until the run rests, or only waits.
func (t *trial) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), virtualLimit)
	defer cancel()
	t.records = memstore.New()
	if _, err := t.records.PutDefinition(ctx, t.def); err != nil {
		return err
	}
	eng, err := engine.New(flow.Growing(t.def.Name, stoppableMachine{t.machine, t.real}), &stoppable{t.records, t.real},
		engine.WithTasks(t.tasks), engine.WithLimits(limits),
		engine.WithCatalog(stoppableCatalog{&definition.Catalog{Store: t.records}, t.real}))
	if err != nil {
		return err
	}
	_, err = eng.Run(ctx, runID, engine.Input(t.input), engine.OnDefinition(t.def.Hash),
		engine.Attributes(definition.Beginning{}.Attributes(asl.Attributes{})))
	_, failed := errors.AsType[*engine.FailedError](err)
	_, reverted := errors.AsType[*engine.RevertedError](err)
	switch {
	case t.real.Err() != nil:
		return errTooLong
	case failed, reverted, errors.Is(err, engine.ErrSuspended), ctx.Err() != nil:
		return nil
	}
	return err
}

// A stoppable store stops with the caller. The context of the run cannot, because it belongs to virtual time.
type stoppable struct {
	backend.Store

	real context.Context //nolint:containedctx // see trial
}

// Commit commits, unless the caller has gone.
func (s *stoppable) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if s.real.Err() != nil {
		_ = s.Close() // the engine gives up at once
		return storage.ErrClosed
	}
	return s.Store.Commit(ctx, claim, cp)
}

// A stoppableMachine stops computing an answer with the caller. The store then refuses the answer.
type stoppableMachine struct {
	definition.Machine

	real context.Context //nolint:containedctx // see trial
}

// Grow answers, unless the caller goes.
func (m stoppableMachine) Grow(ask *grow.Ask) grow.Growth {
	other := ask.Interrupted
	ask.Interrupted = func() bool { return m.real.Err() != nil || other != nil && other() }
	defer func() { ask.Interrupted = other }()
	return m.Machine.Grow(ask)
}

// NumbersNodes implements [grow.Numbering], as all machines of the command do.
func (stoppableMachine) NumbersNodes() {}

// Task implements [grow.TaskLanguage] as the machine does.
func (m stoppableMachine) Task(name string) (atom.Body, bool) {
	if language, ok := m.Machine.(grow.TaskLanguage); ok {
		return language.Task(name)
	}
	return nil, false
}

// A stoppableCatalog has stoppable machines for the runs that the run starts.
type stoppableCatalog struct {
	*definition.Catalog

	real context.Context //nolint:containedctx // see trial
}

// Flow implements [engine.Catalog].
func (c stoppableCatalog) Flow(ctx context.Context, run *storage.Run) (flow.Node, error) {
	m, err := c.MachineOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return flow.Growing(run.Flow, stoppableMachine{m, c.real}), nil
}
