package atom

import "reflect"

// A Key is the name of a symbol together with the Go type T of its values.
type Key[T any] struct{ name string }

// NewKey returns the key of the symbol called name.
func NewKey[T any](name string) Key[T] { return Key[T]{name} }

// Name returns the symbol's name.
func (k Key[T]) Name() string { return k.name }

// String returns the symbol's name.
func (k Key[T]) String() string { return k.name }

// Type returns T.
func (Key[T]) Type() reflect.Type { return reflect.TypeFor[T]() }
