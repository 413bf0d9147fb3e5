package asl_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
)

// TestLegalRuns shows that a definition in which Validate finds neither an error
// nor anything that is not supported is compiled, and that its runs never give an
// internal error, whatever its tasks answer. The definitions are mutations of
// those that the other tests use.
//
// Guarantee (G8): A valid definition compiles without an internal error. No text makes the parser panic.
// Also: `FuzzParse`.
func TestLegalRuns(t *testing.T) {
	t.Parallel()
	seeds, parts := mutationSeeds()
	legal, ran := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := &mutator{r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7)), parts: parts}
		definition := rapid.SampledFrom(seeds).Draw(t, "definition")
		text := m.mutate(definition, rapid.IntRange(0, 6).Draw(t, "mutations"))
		profile := rapid.SampledFrom(asl.Profiles()).Draw(t, "profile")
		ran++
		problems := asl.Validate("test", text, asl.Under(profile))
		machine, err := asl.Parse("test", text, asl.Under(profile))
		if refused := slices.ContainsFunc(problems, func(p flow.Diagnostic) bool { return p.Severity != flow.SeverityWarning }); refused != (err != nil) {
			t.Fatalf("Validate says %v, Parse %v\n%s", problems, err, text)
		}
		if err != nil {
			return
		}
		legal++
		s := &simulator{lang: machine, task: randomTasks(m.r.Uint64()), random: m.r.Uint64(), steps: 60}
		s.start(randomJSON(m.r, 3))
		if s.fault != nil {
			t.Fatalf("%v\n%s", s.fault, text)
		}
		if s.end != nil && s.end.Failure != nil && s.end.Failure.Code == atom.CodeLanguage {
			t.Fatalf("internal error: %s\n%s", s.end.Failure.Message, text)
		}
	})
	t.Logf("%d of %d definitions were legal", legal, ran)
	if legal < max(ran/20, 1) {
		t.Errorf("%d of %d definitions were legal: too few to show anything", legal, ran)
	}
}

// mutationSeeds returns definitions, and all the values in them.
func mutationSeeds() (seeds, parts []any) {
	texts := slices.Clone(fuzzSeeds)
	for _, c := range ruleCases {
		if len(c.bad) < 10_000 {
			texts = append(texts, c.bad)
		}
		texts = append(texts, c.good)
	}
	for _, text := range texts {
		var tree any
		if json.Unmarshal([]byte(text), &tree) != nil {
			continue
		}
		if _, ok := tree.(map[string]any); ok {
			seeds = append(seeds, tree)
			parts = appendParts(parts, tree)
		}
	}
	return seeds, parts
}

func appendParts(parts []any, tree any) []any {
	parts = append(parts, tree)
	switch v := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = appendParts(parts, v[name])
		}
	case []any:
		for _, item := range v {
			parts = appendParts(parts, item)
		}
	}
	return parts
}

// A mutator changes definitions in ways that often leave them legal.
type mutator struct {
	r     *rand.Rand
	parts []any
}

func (m *mutator) mutate(tree any, times int) []byte {
	tree = clone(tree)
	for range times {
		nodes := appendParts(nil, tree)
		m.change(nodes[m.r.IntN(len(nodes))])
	}
	text, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return text
}

// change changes one member of an object, or element of an array.
func (m *mutator) change(node any) {
	part := clone(m.parts[m.r.IntN(len(m.parts))])
	switch v := node.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 {
			return
		}
		name := names[m.r.IntN(len(names))]
		switch m.r.IntN(4) {
		case 0:
			delete(v, name)
		case 1:
			v[name] = m.like(v[name], part)
		case 2: // a field of another object
			if other, ok := part.(map[string]any); ok {
				maps.Copy(v, other)
			}
		default: // the same under another state's name, or the other way round
			other := names[m.r.IntN(len(names))]
			v[name], v[other] = v[other], v[name]
		}
	case []any:
		if len(v) > 0 {
			v[m.r.IntN(len(v))] = m.like(v[0], part)
		}
	}
}

// like returns a value of the same kind as another, if it finds one.
func (m *mutator) like(value, part any) any {
	for range 20 {
		if sameKind(value, part) {
			return part
		}
		part = clone(m.parts[m.r.IntN(len(m.parts))])
	}
	return part
}

func sameKind(a, b any) bool {
	switch a.(type) {
	case map[string]any:
		_, ok := b.(map[string]any)
		return ok
	case []any:
		_, ok := b.([]any)
		return ok
	case string:
		_, ok := b.(string)
		return ok
	case float64:
		_, ok := b.(float64)
		return ok
	}
	return true
}

func clone(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return tree
}

// TestLayout shows that the same is found however a definition is laid out.
func TestLayout(t *testing.T) {
	t.Parallel()
	seeds, parts := mutationSeeds()
	rapid.Check(t, func(t *rapid.T) {
		m := &mutator{r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7)), parts: parts}
		text := m.mutate(rapid.SampledFrom(seeds).Draw(t, "definition"), rapid.IntRange(0, 6).Draw(t, "mutations"))
		var wide bytes.Buffer
		if err := json.Indent(&wide, text, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		want, got := found(asl.Validate("", text)), found(asl.Validate("", wide.Bytes()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("on one line and on many:\n%s\n%s", diff, text)
		}
	})
}

// found returns which rules are broken, and where.
func found(problems flow.Diagnostics) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.Rule + " at " + p.Pointer
	}
	return out
}
