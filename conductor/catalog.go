package conductor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A Language makes a flow of a stored definition, such as one in the Amazon States
// Language.
type Language func(ctx context.Context, def storage.Definition) (flow.Node, error)

// A Catalog lists the flows that a conductor can run: flows in the program, by name and
// version, and the definitions in the store whose languages the catalog knows. Fill the
// catalog before it is used. A run ends on the version it began on, so keep each version
// in the catalog as long as it has runs.
type Catalog struct {
	flows     map[string][]version // newest first
	languages map[string]Language
	tasks     func(*storage.Run) (engine.Tasks, error)
	otherwise func(context.Context, *storage.Run) (flow.Node, error)
	problems  []error

	mu   sync.Mutex
	made map[string]flow.Node // of definitions, by hash
}

// version is one version of a flow that is in the program.
type version struct {
	number    int64
	root      flow.Node
	structure string // its hash
}

// NewCatalog returns an empty catalog.
func NewCatalog() *Catalog {
	return &Catalog{flows: map[string][]version{}, languages: map[string]Language{}, made: map[string]flow.Node{}}
}

// Add adds a version of a flow to the catalog, under the flow's name. Numbers begin at
// 1; jobs that name no version get the largest. If the version is not valid, [New]
// returns an error.
func (c *Catalog) Add(number int64, root flow.Node) *Catalog {
	list := c.flows[root.Name()]
	switch plan, err := flow.CompileOpen(root, nil); {
	case number < 1:
		c.problems = append(c.problems, fmt.Errorf("conductor: version %d of flow %q; want 1 or more", number, root.Name()))
	case slices.ContainsFunc(list, func(v version) bool { return v.number == number }):
		c.problems = append(c.problems, fmt.Errorf("conductor: version %d of flow %q is in the catalog twice", number, root.Name()))
	case err != nil:
		c.problems = append(c.problems, fmt.Errorf("conductor: version %d of flow %q: %w", number, root.Name(), err))
	default:
		list = append(list, version{number, root, plan.Hash})
		slices.SortFunc(list, func(a, b version) int { return int(b.number - a.number) })
		c.flows[root.Name()] = list
	}
	return c
}

// Language lets the catalog run stored definitions in a language. The language itself
// interprets the part after a slash in the name of a definition's language.
func (c *Catalog) Language(name string, l Language) *Catalog {
	c.languages[name] = l
	return c
}

// Otherwise asks f for the flow of a run if the catalog does not have the flow's name and
// the run has no definition. An example is a run that another run began by a name of its own.
func (c *Catalog) Otherwise(f func(ctx context.Context, run *storage.Run) (flow.Node, error)) *Catalog {
	c.otherwise = f
	return c
}

// TasksOf gives each run tasks of its own, such as programs from the folder in which the
// run was begun. Without TasksOf, or if f returns nil, the run uses the engine's tasks.
func (c *Catalog) TasksOf(f func(run *storage.Run) (engine.Tasks, error)) *Catalog {
	c.tasks = f
	return c
}

// serving is a catalog over a store, as an engine asks it.
type serving struct {
	*Catalog

	store storage.Store
}

var _ engine.TaskCatalog = (*serving)(nil)

// Flow returns the flow that a run was begun on.
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
	if len(list) == 0 && c.otherwise != nil {
		return c.otherwise(ctx, run)
	}
	if len(list) > 0 {
		return nil, fmt.Errorf("%w: flow %q has changed since the run began, and that version is not in the catalog", storage.ErrNotFound, run.Flow)
	}
	return nil, fmt.Errorf("%w: flow %q is not in the catalog, which has %s", storage.ErrNotFound, run.Flow, c.names())
}

// Tasks returns the tasks of a run.
func (c *serving) Tasks(_ context.Context, run *storage.Run) (engine.Tasks, error) {
	if c.tasks == nil {
		return nil, nil //nolint:nilnil // those of the engine
	}
	return c.tasks(run)
}

// defined returns the flow of a stored definition. It is kept, as definitions never
// change.
func (c *serving) defined(ctx context.Context, hash string) (flow.Node, error) {
	c.mu.Lock()
	root := c.made[hash]
	c.mu.Unlock()
	if root != nil {
		return root, nil
	}
	def, err := c.store.Definition(ctx, hash)
	if err != nil {
		return nil, ofStore(err)
	}
	l := c.language(def.Language)
	if l == nil {
		return nil, fmt.Errorf("%w: definition %q is in the language %q, which is not in the catalog", storage.ErrNotFound, def.Name, def.Language)
	}
	if root, err = l(ctx, def); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.made[hash]; first != nil { // by another goroutine meanwhile
		return first, nil
	}
	c.made[hash] = root
	return root, nil
}

func (c *serving) language(name string) Language {
	name, _, _ = strings.Cut(name, "/")
	return c.languages[name]
}

// wanted returns what a job is to run: the flow, and the hash of its definition if
// it has one.
func (c *serving) wanted(ctx context.Context, j *storage.Job) (root flow.Node, definition string, err error) {
	for _, v := range c.flows[j.Flow] {
		if j.Version == 0 || v.number == j.Version {
			return v.root, "", nil
		}
	}
	list, err := c.store.Definitions(ctx, j.Flow)
	if err != nil {
		return nil, "", ofStore(err)
	}
	for i := range list {
		if j.Version == 0 || list[i].Version == j.Version {
			root, err := c.defined(ctx, list[i].Hash)
			return root, list[i].Hash, err
		}
	}
	what := fmt.Sprintf("flow %q", j.Flow)
	if j.Version != 0 {
		what = fmt.Sprintf("version %d of %s", j.Version, what)
	}
	return nil, "", fmt.Errorf("%w: %s is neither in the catalog, which has %s, nor a stored definition", errUnknown, what, c.names())
}

// ofStore tells an error of the store, which says nothing about the definition that it
// was asked for, from one of that definition.
func ofStore(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &engine.StoreError{Err: err}
}

// errUnknown is returned for what another conductor may know.
var errUnknown = errors.New("conductor: not known here")

// names returns what there is, for people.
func (c *Catalog) names() string {
	if len(c.flows) == 0 {
		return "no flows"
	}
	return strings.Join(slices.Sorted(maps.Keys(c.flows)), ", ")
}

// claimable returns the names of flows of which jobs can be run here.
func (c *serving) claimable(ctx context.Context) ([]string, error) {
	names := slices.Sorted(maps.Keys(c.flows))
	if len(c.languages) == 0 {
		return names, nil
	}
	defs, err := c.store.Definitions(ctx, "")
	if err != nil {
		return nil, err
	}
	for i := range defs {
		if c.language(defs[i].Language) != nil && !slices.Contains(names, defs[i].Name) {
			names = append(names, defs[i].Name)
		}
	}
	return names, nil
}
