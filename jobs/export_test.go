package jobs

import "github.com/ebbflow/ebb/storage"

// Store returns the store of the board.
func (b *Board) Store() storage.Store { return b.store }
