package atom

import "reflect"

// A Key is a typed name of a symbol: values that are stored and read under it have
// the type T.
type Key[T any] struct{ name string }

// NewKey returns the key of the symbol called name.
func NewKey[T any](name string) Key[T] { return Key[T]{name} }

// Name returns the symbol's name.
func (k Key[T]) Name() string { return k.name }

// Type returns T.
func (Key[T]) Type() reflect.Type { return reflect.TypeFor[T]() }
