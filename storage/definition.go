package storage

import (
	"context"
	"time"
)

// A Definition is the text a run was begun on. Runs end on the version they
// began on.
type Definition struct {
	Hash     string // of language and text
	Name     string
	Version  int64 // given by the store, rising for each name
	Language string
	Text     []byte
	Created  time.Time
}

// Definitions are the texts that runs were begun on.
type Definitions interface {
	// PutDefinition stores a definition unless it is there, and returns it with
	// its version.
	PutDefinition(ctx context.Context, def Definition) (Definition, error)
	// Definition returns the definition of that hash.
	Definition(ctx context.Context, hash string) (Definition, error)
	// Definitions returns the definitions of that name, the newest version first;
	// "" is every name, in their order. Text is left out.
	Definitions(ctx context.Context, name string) ([]Definition, error)
}
