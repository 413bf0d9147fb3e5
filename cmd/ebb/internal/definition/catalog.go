package definition

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
)

// A Catalog knows the flows of runs that other runs begin: by the definition that
// such a run has, or by its name among the subflows that the first run was begun
// with.
type Catalog struct {
	Store storage.Store

	mu       sync.Mutex
	machines map[string]Machine // by hash
}

// Flow implements [engine.Catalog].
func (c *Catalog) Flow(ctx context.Context, run *storage.Run) (flow.Node, error) {
	m, err := c.MachineOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return flow.Growing(run.Flow, m), nil
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

// Machine returns the machine of a stored definition.
func (c *Catalog) Machine(ctx context.Context, hash string) (Machine, error) {
	c.mu.Lock()
	m := c.machines[hash]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	def, err := c.Store.Definition(ctx, hash)
	if err != nil {
		return nil, err
	}
	return c.Parsed(&def)
}

// Parsed returns the machine of a definition that was read.
func (c *Catalog) Parsed(def *storage.Definition) (Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.machines[def.Hash]; m != nil {
		return m, nil
	}
	m, err := ParseStored(def)
	if err != nil {
		return nil, err
	}
	if c.machines == nil {
		c.machines = map[string]Machine{}
	}
	c.machines[def.Hash] = m
	return m, nil
}

// flowFiles are the names that the file of a subflow may have.
var flowFiles = []string{".sm4c.json", ".sm4c.yaml", ".sm4c.yml", ".asl.json", ".asl.yaml", ".asl.yml", ".json", ".yaml", ".yml"}

// ReadFlows adds to some definitions those of the flows that they run, and that these
// run, from beside a file. What is missing is returned: it is only missed when it is
// to be run.
func ReadFlows(file string, flows map[string]*Definition, how Reading) (missing []string, err error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		names = append(names, flows[name].Machine.Subflows()...)
	}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if flows[name] != nil {
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
		def.Name = name
		flows[name] = def
		names = append(names, def.Machine.Subflows()...)
	}
	return missing, nil
}

// fileOfFlow returns the file beside another that a flow is in, and its text; "" when there is none.
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
