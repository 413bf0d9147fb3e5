package flow

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// requiredBy returns the symbols an atom cannot do without.
func requiredBy(a *atom.Atom) []string {
	var out []string
	for _, args := range [][]atom.Arg{a.Args(), a.RevertArgs()} {
		for _, arg := range args {
			if arg.Optional || arg.Symbol == "" || slices.Contains(out, arg.Symbol) {
				continue
			}
			if _, ok := a.Injected(arg.Symbol); !ok {
				out = append(out, arg.Symbol)
			}
		}
	}
	return out
}

func providedBy(a *atom.Atom) []string {
	provides := a.Provides()
	if len(provides) == 0 {
		return nil
	}
	out := make([]string, len(provides))
	for i, p := range provides {
		out[i] = p.Symbol
	}
	return out
}

// set is a set of strings that remembers the order of adding.
type set struct {
	list []string
	in   map[string]bool
}

func newSet(items []string) *set {
	s := &set{in: map[string]bool{}}
	for _, it := range items {
		s.add(it)
	}
	return s
}

func (s *set) has(item string) bool { return s.in[item] }

func (s *set) add(item string) {
	if !s.in[item] {
		s.in[item] = true
		s.list = append(s.list, item)
	}
}
