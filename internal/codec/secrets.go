package codec

import (
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// The fields of secrets, which may repeat.
const (
	secretSymbol byte = iota + 1
	secretAtom
)

// escapedKeys stands among the secrets of a run if its keys differ from those that an earlier version gave. No atom has
// that path. So versions that do not know it can still read the run.
const escapedKeys = "\x00keys"

// AppendSecrets appends the form in which stores keep the secrets of a run, and how its keys are made.
func AppendSecrets(to []byte, run *storage.Run) []byte {
	f := fields(to)
	for _, name := range run.Secrets.Symbols {
		f.text(secretSymbol, name)
	}
	for _, path := range run.Secrets.Atoms {
		f.text(secretAtom, path)
	}
	if !run.PlainKeys && differ(run.ID) {
		f.text(secretAtom, escapedKeys)
	}
	return f
}

// differ reports whether the keys of a run are not those that an earlier version gave.
func differ(run string) bool {
	key := (&atom.Call{Run: run}).Key()
	return !strings.HasPrefix(key, run) || key[len(run)] != '/'
}

// ReadSecrets sets the secrets of a run, and how its keys are made, from the output of AppendSecrets. For other bytes,
// it returns [storage.ErrCorrupt].
func ReadSecrets(b []byte, run *storage.Run) error {
	out, escaped := &run.Secrets, false
	s := scan{rest: b}
	for s.next() {
		switch s.field {
		case secretSymbol:
			out.Symbols = append(out.Symbols, s.text())
		case secretAtom:
			if path := s.text(); path == escapedKeys {
				escaped = true
			} else {
				out.Atoms = append(out.Atoms, path)
			}
		default:
			s.unknown()
		}
	}
	run.PlainKeys = !escaped && differ(run.ID)
	return s.err
}
