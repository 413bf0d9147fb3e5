package atom

import "slices"

// Secret marks symbols whose values are masked wherever people look: in logs,
// histories, pages, pictures and failure trees. They may be what the task
// requires or what it provides, and are then secret in the whole run. With no
// argument it is the task's whole result, and with it every symbol it provides.
//
// Masking is about showing. The values are stored as they are, and other atoms
// receive them. A value that an atom writes into another one, or into the message
// of a failure, is not known to be a secret.
func Secret(symbols ...string) Option {
	return func(a *Atom) {
		a.secrets = append(a.secrets, symbols...)
		a.secret = a.secret || len(symbols) == 0
	}
}

// Secrets returns the symbols that the atom marks as secret, sorted and each
// once.
func (a *Atom) Secrets() []string {
	if len(a.secrets) == 0 && !a.secret {
		return nil
	}
	all := slices.Clone(a.secrets)
	if a.secret {
		for _, p := range a.provides {
			all = append(all, p.Symbol)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// SecretResult reports whether the whole result is secret, be it provided under
// a symbol or not.
func (a *Atom) SecretResult() bool { return a.secret }
