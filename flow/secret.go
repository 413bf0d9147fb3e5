package flow

import (
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// secrets collects what atoms mark as secret. A symbol is secret in the whole
// plan, whichever atom marked it. Where it is not a member of a result under its own
// name, it cannot be told from the rest: then the result is secret as a whole.
func (p *Plan) secrets() {
	secret := map[string]bool{}
	for _, a := range p.Atoms {
		for _, s := range a.Secrets() {
			secret[s] = true
		}
	}
	for _, a := range p.Atoms {
		if a.SecretResult() || slices.ContainsFunc(a.Provides(), func(part atom.Provide) bool {
			return secret[part.Symbol] && (part.From != atom.ByKey || part.Key != part.Symbol)
		}) {
			p.SecretResults = append(p.SecretResults, a.Name())
		}
	}
	p.Secrets = slices.Sorted(maps.Keys(secret))
}
