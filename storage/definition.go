package storage

import "time"

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
