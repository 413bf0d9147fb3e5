package atom

import "slices"

// Secret marks symbols whose values Ebb masks wherever it shows them: in logs,
// histories, pages, pictures and failure trees. The task may require or provide the
// symbols, and they are then secret in the whole run. With no argument, Secret marks
// the task's whole result, and with it every symbol that the task provides.
//
// Masking changes only the display. The values are stored as they are, and other atoms
// receive them. If an atom copies a secret into another value, or into the message of a
// failure, Ebb does not know that the copy is secret.
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

// SecretResult reports whether the whole result is secret, even if the atom does not provide it under a symbol.
func (a *Atom) SecretResult() bool { return a.secret }
