package storage

import (
	"errors"
	"fmt"
)

// ErrKeyTaken is wrapped by every [KeyTakenError].
var ErrKeyTaken = errors.New("storage: an open run has the key")

// A KeyTakenError says that a run was not created, or not reopened, because another open run holds its key.
type KeyTakenError struct {
	Key string // the key
	Run string // id of the run that holds it
}

// Error names the key and the run that holds it.
func (e *KeyTakenError) Error() string {
	return fmt.Sprintf("storage: the open run %q has the key %q", e.Run, e.Key)
}

// Is makes the error match [ErrKeyTaken].
func (e *KeyTakenError) Is(target error) bool { return target == ErrKeyTaken }
