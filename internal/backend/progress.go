package backend

import "github.com/ebbflow/ebb/storage"

// A Progress is what a run needs to continue, and so what it may wait for, see [Lists.InProgress].
type Progress struct {
	Atoms  []storage.Atom     // the live atoms, ordered by path; values that are payloads are not filled in
	Tokens []storage.Token    // the open tokens
	Timers []storage.TimerRow // the timers that have not fired
}
