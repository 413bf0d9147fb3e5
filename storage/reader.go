package storage

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// Reader reads the store. Records are copies; Held values are filled in. If a run does
// not exist, methods that ask about it return ErrNotFound.
type Reader interface {
	Run(ctx context.Context, id string) (Run, error)
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	// Labeled returns the ids of the runs that have not ended and have a label with
	// one of these keys and this value, in their order, by the key. It leaves out a key
	// that no such run has. It is one query, however many keys there are. Its cost grows
	// with the keys and the runs that it finds. It returns ErrInvalid for a text that
	// cannot be a key or a value of a label.
	Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error)
	// Descendants returns how many runs were created with that Run.Root. Purging some of
	// them does not lower the count, which ends when neither the root nor a run with that root
	// is left. If no run has that root, Descendants returns 0 and no error.
	Descendants(ctx context.Context, root string) (int64, error)
	// Atoms returns the atoms of a run that are stored and that q selects, ordered by path.
	// With a limit it may return fewer, see [PageBytes]; none is left when it returns none.
	Atoms(ctx context.Context, run string, q AtomQuery) ([]Atom, error)
	// Atom returns one atom of a run.
	Atom(ctx context.Context, run, path string) (Atom, error)
	// AtomsAt returns the atoms of a run that are stored at these paths, as they
	// are at one moment, in the order of the paths.
	AtomsAt(ctx context.Context, run string, paths ...string) ([]Atom, error)
	// Tries returns all tries by which the retry at path decides, including those that
	// its record does not hold. If the atom is not a retry, Tries returns nothing.
	Tries(ctx context.Context, run, path string) (atom.History, error)
	// History returns up to limit entries with numbers above after; limit 0 is all. With a
	// limit it may return fewer, see [PageBytes]; none is left when it returns none.
	History(ctx context.Context, run string, after int64, limit int) ([]Entry, error)
	// Undos returns up to limit entries of the undo stack with numbers below below, the
	// topmost first; below 0 begins at the top, limit 0 is all.
	Undos(ctx context.Context, run string, below int64, limit int) ([]Undo, error)
	// RunTimers returns the timers of one run, nearest first.
	RunTimers(ctx context.Context, run string) ([]TimerRow, error)
	// RunTokens returns the open tokens of one run, ordered by path.
	RunTokens(ctx context.Context, run string) ([]Token, error)
	// RunOutbox returns up to limit messages that one run still has to send, including
	// parked ones, in the order in which they were created. The messages outlive a purge of
	// their run. If a run does not exist and left none, RunOutbox returns nothing. Limit 0 is
	// all.
	RunOutbox(ctx context.Context, run string, limit int) ([]Outgoing, error)
	Token(ctx context.Context, id string) (Token, error)
}

// An AtomQuery selects atoms of a run. The zero query selects all.
type AtomQuery struct {
	Live  bool   // only those that are needed to go on with the run
	After string // only those with paths behind this one, for paging; "" is all
	Limit int    // 0 is all
}

// A RunQuery selects runs, newest first, or with Due those that are due longest
// first. The zero query selects all.
type RunQuery struct {
	Flow   string
	States []states.Flow     // any of these; none is every state
	Labels map[string]string // all of these
	Due    time.Time         // runs due by then that no live owner has, if not zero
	Top    bool              // those that no other run began
	Before string            // after the run of this id in the listing, for paging
	Limit  int               // 0 is all
}
