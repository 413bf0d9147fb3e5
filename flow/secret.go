package flow

import (
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// secrets collects the symbols that atoms mark as secret. If any atom marks a symbol
// as secret, the symbol is secret in the whole plan. If a secret symbol is not a
// member of a result under its own name, the whole result is secret.
func (p *Plan) secrets() {
	secret := map[string]bool{}
	for _, a := range p.Atoms {
		for _, s := range a.Secrets() {
			secret[s] = true
		}
		if a.Run != nil {
			for _, s := range a.Run.Plan.Secrets {
				secret[s] = true
			}
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
