package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// definitions contains the stored definitions.
type definitions struct {
	byHash    map[string]storage.Definition
	latest    map[string]int64    // latest version, by name of the definition
	languages map[string][]string // languages of the definitions, by their name
}

// PutDefinition implements [backend.Definitions.PutDefinition].
func (m *store) PutDefinition(ctx context.Context, def storage.Definition) (storage.Definition, error) {
	if err := m.enterChange(ctx); err != nil {
		return storage.Definition{}, err
	}
	defer m.mu.Unlock()
	if there, known := m.defs.byHash[def.Hash]; known {
		there.Text = slices.Clone(there.Text)
		return there, nil
	}
	if err := rules.CheckDefinitions(len(m.defs.byHash) + 1); err != nil {
		return storage.Definition{}, err
	}
	m.defs.latest[def.Name]++
	def.Version = m.defs.latest[def.Name]
	if def.Created.IsZero() {
		def.Created = time.Now()
	}
	kept := def
	kept.Text = slices.Clone(def.Text)
	m.defs.byHash[def.Hash] = kept
	if !slices.Contains(m.defs.languages[def.Name], def.Language) {
		m.defs.languages[def.Name] = append(m.defs.languages[def.Name], def.Language)
	}
	m.changed(ctx)
	return def, nil
}

// Definition implements [backend.Definitions.Definition].
func (m *store) Definition(ctx context.Context, hash string) (storage.Definition, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Definition{}, err
	}
	defer m.mu.Unlock()
	def, known := m.defs.byHash[hash]
	if !known {
		return storage.Definition{}, fmt.Errorf("%w: definition %q", storage.ErrNotFound, hash)
	}
	def.Text = slices.Clone(def.Text)
	return def, nil
}

// Definitions implements [backend.Definitions.Definitions].
func (m *store) Definitions(ctx context.Context, q backend.DefinitionQuery) ([]storage.Definition, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []storage.Definition
	for _, def := range m.defs.byHash {
		if (q.Name == "" || def.Name == q.Name) && (q.Version == 0 || def.Version == q.Version) &&
			(q.After == nil || inOrder(&def, q.After) > 0) {
			def.Text = nil
			out = append(out, def)
		}
	}
	slices.SortFunc(out, func(a, b storage.Definition) int { return inOrder(&a, &b) })
	if q.Limit > 0 {
		out = out[:min(q.Limit, len(out))]
	}
	return out, nil
}

func inOrder(a, b *storage.Definition) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(b.Version, a.Version))
}
