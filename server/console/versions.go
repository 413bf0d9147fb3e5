package console

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
)

// comparedVersions draws two versions of a definition as one graph.
func (c *console) comparedVersions(ctx context.Context, v *visit, old, now *storage.Definition) node {
	if c.o.Define == nil {
		return none
	}
	was, err := c.o.Define(ctx, old)
	if err != nil {
		return soft(say("There is no picture: {0}", words(err.Error())))
	}
	is, err := c.o.Define(ctx, now)
	if err != nil {
		return soft(say("There is no picture: {0}", words(err.Error())))
	}
	before, after := partsOf(old.Text), partsOf(now.Text)
	both := draw.Compare(was.Picture(old.Name), is.Picture(now.Name), func(n *draw.Node) bool {
		return !slices.Equal(before[n.Label], after[n.Label])
	})
	return fragment{
		v.pictured(both, draw.SVGOptions{Bare: true}),
		soft(say("+ is added, − is removed, ≠ is changed. A thick line is new, and a dashed line is gone.")),
	}
}

// partsOf returns the parts of a definition by their names: what objects of JSON contain under a name, and objects that
// have one. So it knows no language. A text that a page does not show whole has no parts.
func partsOf(text []byte) map[string][]string {
	parts := map[string][]string{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var whole any
	if len(text) > maxDefinition || d.Decode(&whole) != nil {
		return parts
	}
	add := func(name string, part any) {
		if text, err := json.Marshal(part); err == nil {
			parts[name] = append(parts[name], string(text))
		}
	}
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, one := range part {
				walk(one)
			}
		case map[string]any:
			if name, is := part["name"].(string); is {
				add(name, part)
			}
			for name, one := range part {
				if _, is := one.(map[string]any); is {
					add(name, one)
				}
				walk(one)
			}
		}
	}
	walk(whole)
	for _, all := range parts {
		slices.Sort(all)
	}
	return parts
}

const (
	mostCounted = 20                     // versions whose runs a page counts
	countTime   = 200 * time.Millisecond // for counting the runs of all of them
)

// runCounts counts the runs of some definitions, while there is time, by their hashes.
func (c *console) runCounts(ctx context.Context, all []storage.Definition, now time.Time) (map[string]node, error) {
	counts := map[string]node{}
	for i := range all[:min(len(all), mostCounted)] {
		if time.Since(now) > countTime {
			break
		}
		f, err := runfilter.Term("definition", all[i].Hash)
		if err != nil {
			return nil, err
		}
		found, err := runfilter.Count(ctx, c.store, c.search(f, now), 0, 0)
		if err != nil {
			return nil, err
		}
		counts[all[i].Hash] = say("runs: {0}", number(found.Total()))
		if found.More {
			counts[all[i].Hash] = say("runs: {0} or more", number(found.Total()))
		}
	}
	return counts, nil
}
