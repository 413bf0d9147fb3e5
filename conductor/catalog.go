package conductor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/boundedcache"
	"github.com/ebbflow/ebb/internal/jsonschema"
	"github.com/ebbflow/ebb/storage"
)

// A Language compiles a stored definition into a flow, such as a definition in the Amazon States Language.
type Language func(ctx context.Context, def storage.Definition) (flow.Node, error)

// A Catalog lists the flows that a conductor can run: flows of the program, by name and version, and stored
// definitions in the catalog's languages. Complete the catalog before its first use. A run keeps the version on
// which it started, so keep each version in the catalog as long as it has runs.
type Catalog struct {
	flows     map[string][]version // newest first
	children  map[string][]version // flows of runs that atoms of flows start; newest first
	factories map[string]Factory
	languages map[string]Language
	tasks     func(*storage.Run) (engine.Tasks, error)
	fallback  func(context.Context, *storage.Run) (flow.Node, error)
	complete  func(context.Context, *storage.Run) error
	queues    func(ctx context.Context, run *grow.RunInfo, queue string) error
	problems  []error

	made *boundedcache.Cache[string, flow.Node] // flows of definitions, by hash
}

const (
	//limit:memory text of the definitions whose flows a catalog caches (`conductor.Catalog`) | {B} | those used
	//limit:and least recently are compiled again
	maxMade   = 32 << 20
	leastMade = 1 << 10 // weight of each flow beside its text
)

// version is one version of a flow of the program.
type version struct {
	number    int64
	root      flow.Node
	structure string             // hash of its structure
	input     *jsonschema.Schema // of its runs; nil if it takes any
	of        string             // of a child: structure of the program's flow that contains it
}

// NewCatalog returns an empty catalog.
func NewCatalog() *Catalog {
	return &Catalog{
		flows: map[string][]version{}, children: map[string][]version{},
		factories: map[string]Factory{}, languages: map[string]Language{}, made: boundedcache.New[string, flow.Node](maxMade),
	}
}

// Add adds a version of a flow to the catalog, under the flow's name. Version numbers start at 1. A job without a
// version runs the largest. If the version is not valid, [New] returns an error.
func (c *Catalog) Add(number int64, root flow.Node) *Catalog {
	list := c.flows[root.Name()]
	plan, err := flow.CompileOpen(root, nil)
	if err == nil {
		err = backend.CheckPlan(plan)
	}
	switch {
	case number < 1:
		c.problems = append(c.problems, fmt.Errorf("conductor: version %d of flow %q; want 1 or more", number, root.Name()))
	case slices.ContainsFunc(list, func(v version) bool { return v.number == number }):
		c.problems = append(c.problems, fmt.Errorf("conductor: version %d of flow %q is in the catalog twice", number,
			root.Name()))
	case err != nil:
		c.problems = append(c.problems, fmt.Errorf("conductor: version %d of flow %q: %w", number, root.Name(), err))
	default:
		c.flows[root.Name()] = newestFirst(append(list, version{
			number: number, root: root, structure: plan.Hash, input: awaited.InputOf(plan),
		}))
		for _, child := range plan.Children {
			c.children[child.Flow] = newestFirst(append(c.children[child.Flow],
				version{number: number, root: child.Root, structure: child.Hash, of: plan.Hash}))
		}
	}
	return c
}

func newestFirst(list []version) []version {
	slices.SortStableFunc(list, func(a, b version) int { return cmp.Compare(b.number, a.number) })
	return list
}

// Language lets the catalog run stored definitions in a language. If the name of a definition's language contains a
// slash, the language itself interprets the part after the slash.
func (c *Catalog) Language(name string, l Language) *Catalog {
	c.languages[name] = l
	return c
}

// Fallback sets a function that provides the flow of a run without a definition whose flow name is not in the
// catalog. For example, another run started such a run under a name of its own.
func (c *Catalog) Fallback(f func(ctx context.Context, run *storage.Run) (flow.Node, error)) *Catalog {
	c.fallback = f
	return c
}

// TasksOf sets a function that provides tasks for each run, such as programs from the folder where the run was
// started. Without TasksOf, or if f returns nil, the run uses the engine's tasks.
func (c *Catalog) TasksOf(f func(run *storage.Run) (engine.Tasks, error)) *Catalog {
	c.tasks = f
	return c
}

// Complete sets a function that completes the records of runs that other runs start, see [engine.CompletingCatalog].
func (c *Catalog) Complete(f func(ctx context.Context, run *storage.Run) error) *Catalog {
	c.complete = f
	return c
}

// Queues sets a function that says whether a queue for workers exists, see [engine.QueueCatalog].
func (c *Catalog) Queues(f func(ctx context.Context, run *grow.RunInfo, queue string) error) *Catalog {
	c.queues = f
	return c
}

// serving is the engine's view of a catalog and a store.
type serving struct {
	*Catalog

	store backend.Store
}

var (
	_ engine.TaskCatalog       = (*serving)(nil)
	_ engine.CompletingCatalog = (*serving)(nil)
	_ engine.QueueCatalog      = (*serving)(nil)
	_ engine.NamingCatalog     = (*serving)(nil)
)

// Served implements [engine.NamingCatalog].
func (c *serving) Served() (flows []engine.ServedFlow, definitions bool) {
	for _, of := range []map[string][]version{c.flows, c.children} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			for _, v := range of[name] {
				flows = append(flows, engine.ServedFlow{Name: name, Structure: v.structure})
			}
		}
	}
	return flows, len(c.languages) > 0
}

// Queue implements [engine.QueueCatalog].
func (c *serving) Queue(ctx context.Context, run *grow.RunInfo, queue string) error {
	if c.queues == nil {
		return nil
	}
	return c.queues(ctx, run, queue)
}

// Complete implements [engine.CompletingCatalog]. A name that neither the catalog nor the first run knows means, as in
// a job, the newest stored definition. The run stays on it.
func (c *serving) Complete(ctx context.Context, run *storage.Run) error {
	if c.complete != nil {
		if err := c.complete(ctx, run); err != nil {
			return err
		}
	}
	if run.Definition != "" {
		return nil
	}
	if _, err := c.Flow(ctx, run); !errors.Is(err, storage.ErrNotFound) || len(c.flows[run.Flow]) > 0 {
		return nil // a flow that is found, but cannot be made, fails the run
	}
	var err error
	_, run.Definition, err = c.wanted(ctx, Ref{Flow: run.Flow}, func() (atom.Value, error) { return run.Input.Data, nil })
	return err
}

// Flow returns the flow on which the run started.
func (c *serving) Flow(ctx context.Context, run *storage.Run) (flow.Node, error) {
	if run.Definition != "" {
		return c.defined(ctx, run.Definition)
	}
	list := c.flows[run.Flow]
	for _, v := range list {
		if run.Structure == "" || v.structure == run.Structure {
			return v.root, nil
		}
	}
	if f := c.factories[run.Flow]; f != nil {
		return f.flow(run.Flow, run.Input.Data)
	}
	if len(list) == 0 && len(c.children[run.Flow]) > 0 {
		return c.child(ctx, run)
	}
	if len(list) == 0 && run.Root != "" && len(c.factories) > 0 {
		if root, err := c.childOfFactory(ctx, run); root != nil || err != nil {
			return root, err
		}
	}
	if len(list) == 0 && c.fallback != nil {
		return c.fallback(ctx, run)
	}
	if len(list) > 0 {
		return nil, fmt.Errorf("%w: flow %q has changed since the run began, and that version is not in the catalog",
			storage.ErrNotFound, run.Flow)
	}
	return nil, fmt.Errorf("%w: flow %q is not in the catalog, which has %s", storage.ErrNotFound, run.Flow, c.names())
}

// child returns the flow of a run that an atom of a program's flow started. It takes the version of that flow on which
// the first of the run's ancestors started. If this version is not in the catalog, it takes the newest.
func (c *serving) child(ctx context.Context, run *storage.Run) (flow.Node, error) {
	list := c.children[run.Flow]
	if len(list) > 1 && run.Root != "" {
		first, err := c.store.Run(ctx, run.Root)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // pruned: any matching version will do
			return nil, &engine.StoreError{Err: err}
		}
		for _, v := range list {
			if v.of == first.Structure && (run.Structure == "" || v.structure == run.Structure) {
				return v.root, nil
			}
		}
	}
	for _, v := range list {
		if run.Structure == "" || v.structure == run.Structure {
			return v.root, nil
		}
	}
	return nil, fmt.Errorf("%w: flow %q has changed since the run began, and that version is not in the catalog",
		storage.ErrNotFound, run.Flow)
}

// Tasks returns the tasks of a run.
func (c *serving) Tasks(_ context.Context, run *storage.Run) (engine.Tasks, error) {
	if c.tasks == nil {
		return nil, nil //nolint:nilnil // those of the engine
	}
	return c.tasks(run)
}

// defined returns the flow of a stored definition. It caches the flow, because definitions never change.
func (c *serving) defined(ctx context.Context, hash string) (flow.Node, error) {
	if root, ok := c.made.Get(hash); ok {
		return root, nil
	}
	def, err := c.store.Definition(ctx, hash)
	if err != nil {
		return nil, ofStore(err)
	}
	l := c.language(def.Language)
	if l == nil {
		return nil, fmt.Errorf("%w: definition %q is in the language %q, which is not in the catalog", storage.ErrNotFound,
			def.Name, def.Language)
	}
	root, err := l(ctx, def)
	if err != nil {
		return nil, err
	}
	return c.made.Add(hash, root, int64(leastMade+len(def.Text))), nil
}

func (c *serving) language(name string) Language {
	name, _, _ = strings.Cut(name, "/")
	return c.languages[name]
}

// wanted returns the flow of a name and version, and the hash of its definition if it has one.
func (c *serving) wanted(ctx context.Context, of Ref, input func() (atom.Value, error),
) (root flow.Node, definition string, err error) {
	if f := c.factories[of.Flow]; f != nil && of.Version == 0 {
		given, err := input()
		if err != nil {
			return nil, "", err
		}
		root, err = f.flow(of.Flow, given)
		return root, "", err
	}
	for _, v := range c.flows[of.Flow] {
		if of.Version == 0 || v.number == of.Version {
			return v.root, "", nil
		}
	}
	var def storage.Definition
	if of.Version == 0 {
		def, err = backend.CurrentDefinition(ctx, c.store, of.Flow)
	} else {
		def, err = backend.FindDefinition(ctx, c.store, of.Flow, of.Version)
	}
	if err == nil {
		root, err := c.defined(ctx, def.Hash)
		return root, def.Hash, err
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return nil, "", ofStore(err)
	}
	what := fmt.Sprintf("flow %q", of.Flow)
	if of.Version != 0 {
		what = fmt.Sprintf("version %d of %s", of.Version, what)
	}
	what += " is neither in the catalog, which has " + c.names() + ", nor a stored definition"
	return nil, "", &unknownError{what}
}

// ofStore marks an error of the store, to distinguish it from an error in the definition.
func ofStore(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &engine.StoreError{Err: err}
}

// An unknownError is the error for a flow that another conductor may know.
type unknownError struct{ what string }

// Error names the flow.
func (e *unknownError) Error() string { return "conductor: " + e.what }

// Unwrap returns [storage.ErrNotFound], so that the conductor leaves the run to others.
func (*unknownError) Unwrap() error { return storage.ErrNotFound }

// names lists the flows in the catalog, for messages.
func (c *Catalog) names() string {
	flows, _ := c.wants()
	return strings.Join(flows, ", ")
}

// keepInputs stores what the runs of the program's flows take, so that who posts a job need not have their code.
func (c *serving) keepInputs(ctx context.Context) error {
	for name, list := range c.flows {
		of := awaited.Inputs{}
		for _, v := range list {
			of[v.number] = v.input
		}
		body, err := atom.Encode(of)
		if err != nil {
			continue // it is too large; the conductor checks the jobs that it claims
		}
		stored, err := c.store.NamedRecord(ctx, awaited.InputKind, name)
		if err == nil && bytes.Equal(stored.Body, body) {
			continue
		}
		if err == nil || errors.Is(err, storage.ErrNotFound) {
			_, err = c.store.WriteRecords(ctx, storage.RecordWrite{
				Kind: awaited.InputKind, Key: name, Was: storage.AnyRevision, Body: body,
			})
		}
		if err != nil && !errors.Is(err, storage.ErrInvalid) { // a name that no record can have concerns only this flow
			return err
		}
	}
	return nil
}

// wants returns which jobs this conductor can run. It names the languages of its definitions, not the definitions,
// which may be many. The store checks whether a job has a definition.
func (c *Catalog) wants() (flows, languages []string) {
	flows = slices.AppendSeq(slices.Collect(maps.Keys(c.flows)), maps.Keys(c.factories))
	slices.Sort(flows)
	return flows, slices.Sorted(maps.Keys(c.languages))
}
