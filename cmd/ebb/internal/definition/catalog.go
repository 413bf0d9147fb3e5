package definition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/boundedcache"
	"github.com/ebbflow/ebb/storage"
)

// A Catalog provides the flows of child runs: by the definition of such a run, or by its flow name among the
// subflows of the first run.
type Catalog struct {
	Store backend.Store

	once     sync.Once
	machines *boundedcache.Cache[string, Machine] // by hash
}

const (
	maxMachines  = 32 << 20 // bytes of the definitions whose machines a catalog caches
	leastMachine = 1 << 10  // what each of them counts beside its text
)

// cache returns the machines that were used last.
func (c *Catalog) cache() *boundedcache.Cache[string, Machine] {
	c.once.Do(func() { c.machines = boundedcache.New[string, Machine](maxMachines) })
	return c.machines
}

// Flow implements [engine.Catalog].
func (c *Catalog) Flow(ctx context.Context, run *storage.Run) (flow.Node, error) {
	m, err := c.MachineOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return flow.Growing(run.Flow, m), nil
}

// Complete implements [engine.CompletingCatalog]. A run of a flow that the first run does not know begins on the
// current stored definition of that name, and stays on it.
func (c *Catalog) Complete(ctx context.Context, run *storage.Run) error {
	if _, err := c.MachineOf(ctx, run); run.Definition != "" || !errors.Is(err, storage.ErrNotFound) {
		return nil // a machine that is found, but cannot be made, fails the run
	}
	def, err := backend.CurrentDefinition(ctx, c.Store, run.Flow)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	run.Definition = def.Hash
	return err
}

// MachineOf returns the machine of a run.
func (c *Catalog) MachineOf(ctx context.Context, run *storage.Run) (Machine, error) {
	hash := run.Definition
	if hash == "" {
		b, err := BeginningOf(run)
		if err != nil {
			return nil, err
		}
		if hash = b.Flows[run.Flow]; hash == "" {
			return nil, fmt.Errorf("%w: there is no flow %q", storage.ErrNotFound, run.Flow)
		}
	}
	return c.Machine(ctx, hash)
}

// Unheard returns why nothing comes of a signal to a run; "" if something may, or if the run's definition is unknown:
// the process that can read the definition decides then.
func (c *Catalog) Unheard(ctx context.Context, run *storage.Run, signal string) string {
	if run.Definition == "" {
		return ""
	}
	m, err := c.Machine(ctx, run.Definition)
	if err != nil {
		return ""
	}
	why := m.Unheard(signal)
	if why != "" {
		why = fmt.Sprintf("nothing comes of the signal %q: run %s is of the machine %s, and %s",
			signal, run.ID, run.Flow, why)
	}
	return why
}

// Waits returns what a run waits for in the terms of its language;
// nil if that is nothing, or if its definition is unknown.
func (c *Catalog) Waits(ctx context.Context, run *storage.Run) *grow.Waiting {
	m, err := c.MachineOf(ctx, run)
	if err != nil {
		return nil
	}
	return m.Waits(run)
}

// Machine returns the machine of a stored definition.
func (c *Catalog) Machine(ctx context.Context, hash string) (Machine, error) {
	if m, there := c.cache().Get(hash); there {
		return m, nil
	}
	def, err := c.Store.Definition(ctx, hash)
	if err != nil {
		return nil, err
	}
	return c.Parsed(&def)
}

// Parsed returns the machine of a loaded definition.
func (c *Catalog) Parsed(def *storage.Definition) (Machine, error) {
	if m, there := c.cache().Get(def.Hash); there {
		return m, nil
	}
	m, err := ParseStored(def)
	if err != nil {
		return nil, err
	}
	return c.cache().Add(def.Hash, m, int64(leastMachine+len(def.Text))), nil
}

// flowFiles are the possible names of a subflow's file.
var flowFiles = []string{
	".sm4c.json", ".sm4c.yaml", ".sm4c.yml", ".asl.json", ".asl.yaml", ".asl.yml", ".json",
	".yaml", ".yml",
}

// FileOf returns the file of the definition with a base name, such as trip.asl.json for trip, except the given file. It
// returns "" if there is none.
func FileOf(base, except string) string {
	for _, ext := range flowFiles {
		if info, err := os.Stat(base + ext); err == nil && info.Mode().IsRegular() && base+ext != except {
			return base + ext
		}
	}
	return ""
}

// ReadFlows adds the definitions of subflows, and of their subflows, from the template of the machine that runs them,
// or from files beside a file. It returns the names without a definition, which are needed only if a run reaches them.
func ReadFlows(file string, flows map[string]*Definition, how Reading) (missing []string, err error) {
	var names []string
	var beside *Project
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		names = append(names, flows[name].Machine.Subflows()...)
		beside = cmp.Or(beside, flows[name].Source.beside)
	}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if flows[name] != nil {
			continue
		}
		if source := beside.source(name); source != nil {
			if flows[name], err = source.Definition(how); err != nil {
				return nil, err
			}
			names = append(names, flows[name].Machine.Subflows()...)
			continue
		}
		found, text, err := fileOfFlow(file, name)
		if err != nil {
			return nil, err
		}
		if found == "" {
			missing = append(missing, name)
			continue
		}
		def, err := definitionIn(found, text, how)
		if err != nil {
			return nil, err
		}
		def.rename(name)
		flows[name] = def
		names = append(names, def.Machine.Subflows()...)
	}
	return missing, nil
}

// fileOfFlow returns the file of a flow beside another file, and its text; "" if there is none.
func fileOfFlow(beside, name string) (file string, text []byte, err error) {
	if strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name) {
		return "", nil, nil
	}
	l, err := loaderBeside(beside)
	if err != nil {
		return "", nil, err
	}
	for _, ext := range flowFiles {
		if text, err := l.read(name+ext, sm4c.MaxDefinition); err == nil {
			return filepath.Join(filepath.Dir(beside), name+ext), text, nil
		}
	}
	return "", nil, nil
}
