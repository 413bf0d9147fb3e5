package jobs

import "github.com/ebbflow/ebb/storage"

// Store returns the store whose board it is.
func (b *Board) Store() storage.Store { return b.store }
