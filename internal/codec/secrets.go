package codec

import "github.com/ebbflow/ebb/storage"

// The fields of secrets, which may repeat.
const (
	secretSymbol byte = iota + 1
	secretAtom
)

// EncodeSecrets returns the form in which stores keep secrets, or nil for none.
func EncodeSecrets(s storage.Secrets) []byte {
	var f fields
	for _, name := range s.Symbols {
		f.text(secretSymbol, name)
	}
	for _, path := range s.Atoms {
		f.text(secretAtom, path)
	}
	return f
}

// DecodeSecrets decodes the output of EncodeSecrets. For other bytes, it returns [storage.ErrCorrupt].
func DecodeSecrets(b []byte) (storage.Secrets, error) {
	var out storage.Secrets
	s := scan{rest: b}
	for s.next() {
		switch s.field {
		case secretSymbol:
			out.Symbols = append(out.Symbols, s.text())
		case secretAtom:
			out.Atoms = append(out.Atoms, s.text())
		default:
			s.unknown()
		}
	}
	return out, s.err
}
