package backend

import (
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// Of returns the contract behind a store that a program holds. Only Ebb's own stores have one. For any other value Of
// panics: the program has implemented [storage.Store] itself, or opened no store.
func Of(s storage.Store) Store {
	b, ok := s.(Store)
	if !ok {
		panic(fmt.Sprintf("ebb: %T is not a store of Ebb: open one with sqlstore.Open or memstore.New", s))
	}
	return b
}
