package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// A Definition is the text of a flow in a language such as ASL. Its hash identifies it, and it never changes. A run
// keeps the definition that it started with until it ends.
type Definition struct {
	Hash     string    // see DefinitionHash
	Name     string    // name of the flow
	Version  int64     // version among the definitions of this name, given by the store: 1, 2 and so on
	Language string    // such as "asl"
	Text     []byte    // the definition itself
	Created  time.Time // when it was stored
}

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
	// PutDefinition stores nothing and returns that definition.
	PutDefinition(ctx context.Context, def Definition) (Definition, error)
	// Definition returns the definition with the given hash, or ErrNotFound.
	Definition(ctx context.Context, hash string) (Definition, error)
	// Definitions returns the definitions of a flow name, newest version first. If name is "", it returns the
	// definitions of all names, ordered by name. Text is nil in the returned definitions.
	Definitions(ctx context.Context, name string) ([]Definition, error)
}
