package backend

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// currentKind is the kind of the records that choose the definition of a flow. Their keys are the names of flows.
const currentKind = "definition.current"

// A choice is the body of such a record. It holds until a definition is stored that was never stored before.
type choice struct {
	Version int64 `json:"version"`
	Newest  int64 `json:"newest"` // the newest version when it was made
}

// A definitionChooser is the part of a [Store] that keeps definitions and which of them are chosen.
type definitionChooser interface {
	Definitions
	storage.NamedRecords
}

// CurrentDefinition returns the definition of a name that new runs take: the newest one, or the one that
// [UseDefinition] has chosen since. Text is nil. If there is none, it returns ErrNotFound.
func CurrentDefinition(ctx context.Context, s definitionChooser, name string) (storage.Definition, error) {
	newest, err := FindDefinition(ctx, s, name, 0)
	if err != nil {
		return newest, err
	}
	record, err := s.NamedRecord(ctx, currentKind, name)
	if errors.Is(err, storage.ErrNotFound) {
		return newest, nil
	}
	var c choice
	if err == nil {
		err = record.Body.Decode(&c)
	}
	if err != nil || c.Newest != newest.Version || c.Version == newest.Version {
		return newest, err
	}
	return FindDefinition(ctx, s, name, c.Version)
}

// UseDefinition makes new runs of a name take a version of its definition, until a definition of this name is stored
// that was never stored before. It returns that version, or ErrNotFound.
func UseDefinition(ctx context.Context, s definitionChooser, name string, version int64) (storage.Definition, error) {
	newest, err := FindDefinition(ctx, s, name, 0)
	if err != nil {
		return newest, err
	}
	chosen, err := FindDefinition(ctx, s, name, version)
	if err != nil {
		return chosen, err
	}
	_, err = s.WriteRecords(ctx, storage.RecordWrite{
		Kind: currentKind, Key: name, Was: storage.AnyRevision, Body: atom.MustEncode(choice{chosen.Version, newest.Version}),
	})
	return chosen, err
}
