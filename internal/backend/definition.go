package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// DefinitionHash returns the hash that identifies a definition. It covers the name of the flow, the language and the
// text. So the same text under two names is two definitions, each with versions and runs of its own.
func DefinitionHash(name, language string, text []byte) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q\n", name, language) // a hash returns no error
	_, _ = h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// Definitions is the part of a [Store] that keeps definitions.
type Definitions interface {
	// PutDefinition stores a definition and returns it with its version. If a definition with the same hash exists,
	// PutDefinition stores nothing and returns that definition. It returns ErrInvalid for one more than MaxDefinitions.
	PutDefinition(ctx context.Context, def storage.Definition) (storage.Definition, error)
	// Definition returns the definition with the given hash, or ErrNotFound.
	Definition(ctx context.Context, hash string) (storage.Definition, error)
	// Definitions returns the definitions that q selects, ordered by name, newest version first. Text is nil in the
	// returned definitions.
	Definitions(ctx context.Context, q DefinitionQuery) ([]storage.Definition, error)
}

// MaxDefinitions is the number of definitions that a store keeps.
//
//limit:values definitions of a database, with all versions (`backend.MaxDefinitions`) | {} | refused
const MaxDefinitions = 100_000

// A DefinitionQuery selects definitions.
type DefinitionQuery struct {
	Name    string              // only definitions of this name; "" means all
	Version int64               // only this version; 0 means all
	After   *storage.Definition // only definitions that the list has after the Name and Version of this one; nil means all
	Limit   int                 // maximum number of definitions; 0 means all
}

// DefinitionNames returns the names of stored definitions, sorted, up to most.
func DefinitionNames(ctx context.Context, d Definitions, most int) (names []string, err error) {
	q := DefinitionQuery{Limit: 1}
	for len(names) < most {
		list, err := d.Definitions(ctx, q)
		if err != nil || len(list) == 0 {
			return names, err
		}
		names = append(names, list[0].Name)
		q.After = &storage.Definition{Name: list[0].Name, Version: 1} // the last one of the name
	}
	return names, nil
}

// FindDefinition returns a version of the definition of a name, or the newest version if version is 0. Text is nil. If
// there is no such definition, it returns ErrNotFound.
func FindDefinition(ctx context.Context, d Definitions, name string, version int64) (storage.Definition, error) {
	list, err := d.Definitions(ctx, DefinitionQuery{Name: name, Version: version, Limit: 1})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: definition %q", storage.ErrNotFound, name)
	}
	if err != nil {
		return storage.Definition{}, err
	}
	return list[0], nil
}
