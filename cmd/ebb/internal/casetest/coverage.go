package casetest

import (
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/flow/grow"
)

// Coverage counts how often the cases go through each part of a definition.
type Coverage struct {
	Def   *definition.Definition
	Parts []grow.Part // in the order of the definition

	mu   sync.Mutex
	hits map[grow.Part]int64
}

func newCoverage(def *definition.Definition) *Coverage {
	return &Coverage{Def: def, Parts: def.Machine.Parts(), hits: map[grow.Part]int64{}}
}

func (c *Coverage) through(part grow.Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits[part]++
}

// Hits returns how often the cases went through a part.
func (c *Coverage) Hits(part grow.Part) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits[part]
}

// A Count says how many parts of one kind a definition has, and how many of them the cases went through.
type Count struct {
	Kind    string `json:"kind"` // state, choice, retrier or catcher
	Covered int    `json:"covered"`
	All     int    `json:"all"`
}

// Counts returns a Count for each kind of part that the definition has.
func (c *Coverage) Counts() []Count {
	var all []Count
	for kind := grow.StatePart; kind <= grow.CatcherPart; kind++ {
		n := Count{Kind: kind.String()}
		for _, part := range c.Parts {
			if part.Kind == kind {
				n.All++
				if c.Hits(part) > 0 {
					n.Covered++
				}
			}
		}
		if n.All > 0 {
			all = append(all, n)
		}
	}
	return all
}

// Percent returns the percentage of parts that the cases went through, 100 if there are no parts.
func (c *Coverage) Percent() float64 {
	covered := 0
	for _, part := range c.Parts {
		if c.Hits(part) > 0 {
			covered++
		}
	}
	if len(c.Parts) == 0 {
		return 100
	}
	return float64(covered) * 100 / float64(len(c.Parts))
}

// covered reports whether a case went through a part.
func (c *Coverage) covered(part grow.Part) bool { return c.Hits(part) > 0 }

// title names a part for people.
func title(part grow.Part) string { return strings.TrimSuffix(part.State+": "+part.Label, ": ") }

// uncovered returns the parts that no case went through.
func (c *Coverage) uncovered() []grow.Part {
	return slices.DeleteFunc(slices.Clone(c.Parts), c.covered)
}
