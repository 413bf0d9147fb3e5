package runfilter

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// waitsField is the field of what runs wait for. Records of runs do not say that: [inspect.Waits] finds it.
const waitsField = "waits"

// waitKinds returns the texts of the kinds of waits.
func waitKinds() (texts []string) {
	for _, kind := range inspect.WaitKinds() {
		texts = append(texts, string(kind))
	}
	return texts
}

func readWait(text lexeme) (v value, err error) {
	kind, name, found := text.cut('=')
	if v.key, v.bare = kind.String(), !found; !slices.Contains(waitKinds(), v.key) {
		return v, fmt.Errorf("%s:%.50s is not known%s", waitsField, v.key, meant(v.key, waitKinds()))
	}
	v.text, v.prefix = name.pattern()
	return v, nil
}

// waitsFor returns the text of the filter of the runs of a group.
func waitsFor(g *inspect.WaitGroup) string {
	return waitsField + `:` + writeLabel(&value{key: string(g.Kind), text: g.Name, bare: g.Name == ""})
}

// selects returns which of the runs the filter selects.
func (s *Search) selects(ctx context.Context, runs []storage.Run) ([]bool, error) {
	selected := make([]bool, len(runs))
	var asked []storage.Run
	var at []int
	for i := range runs {
		if selected[i] = s.Filter.Matches(&runs[i], s.Now); selected[i] {
			asked, at = append(asked, runs[i]), append(at, i)
		}
	}
	if !slices.ContainsFunc(s.Filter.terms, func(t term) bool { return t.field.name == waitsField }) {
		return selected, nil
	}
	if s.Waits == nil {
		return nil, fmt.Errorf("%w: what runs wait for is not known here: leave out %s: of the filter",
			storage.ErrInvalid, waitsField)
	}
	waits, err := s.Waits.Of(ctx, asked)
	for i := range waits {
		selected[at[i]] = s.Filter.waits(waits[i])
	}
	return selected, err
}

// waits reports whether a run that waits for these things fulfills the terms about waits.
func (f Filter) waits(names []inspect.WaitName) bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool {
		return t.field.name == waitsField && t.not == slices.ContainsFunc(names, t.isFor)
	})
}

// isFor reports whether a wait is one of the term's values.
func (t *term) isFor(name inspect.WaitName) bool {
	return slices.ContainsFunc(t.values, func(v value) bool {
		return v.key == string(name.Kind) && (v.bare || v.matches(name.Name))
	})
}
