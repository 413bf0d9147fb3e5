package backend

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

func checkSecrets(s storage.Secrets) error {
	if n := len(s.Symbols) + len(s.Atoms); n > MaxSecrets {
		return fmt.Errorf("%w: %d secrets; want up to %d", storage.ErrInvalid, n, MaxSecrets)
	}
	for _, name := range slices.Concat(s.Symbols, s.Atoms) {
		if name == "" || len(name) > MaxSecret {
			return fmt.Errorf("%w: the name of a secret, %.20q, has %d bytes; want 1 to %d", storage.ErrInvalid, name, len(name),
				MaxSecret)
		}
	}
	return nil
}
