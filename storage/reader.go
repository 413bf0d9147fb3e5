package storage

import (
	"context"

	"github.com/ebbflow/ebb/atom"
)

// Reader is the part of a [Store] that reads runs. Records are copies, and values in payloads are filled in. If a
// run does not exist, methods that ask about it return an error that wraps ErrNotFound.
type Reader interface {
	// Run returns the record of a run.
	Run(ctx context.Context, id string) (Run, error)
	// Runs returns the records of the runs that q selects. With a limit it may return fewer, see [PageBytes]; an empty
	// result means that none is left. [EachRun] reads them page by page. If the record of a run is damaged, the error
	// is in the Run.
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	// Atoms returns the atoms of a run that q selects, ordered by path. With a limit it may return fewer, see
	// [PageBytes]; an empty result means that none is left.
	Atoms(ctx context.Context, run string, q AtomQuery) ([]Atom, error)
	// Atom returns the atom at path, or ErrNotFound.
	Atom(ctx context.Context, run, path string) (Atom, error)
	// Tries returns all tries that the retry at path considers, including tries that its record does not contain.
	// If the atom is not a retry, Tries returns nothing.
	Tries(ctx context.Context, run, path string) (atom.History, error)
	// History returns up to limit entries with numbers above after; limit 0 means all. With a limit it may return
	// fewer, see [PageBytes]; an empty result means that none is left.
	History(ctx context.Context, run string, after int64, limit int) ([]Entry, error)
	// Events returns the events of the run's language that q selects: the entries of the history with the kind
	// EntryEvent. It may return fewer than q.Limit, see [PageBytes]; an empty result means that none is left. Its cost
	// depends on the size of the page, not on the history before it.
	Events(ctx context.Context, run string, q EventQuery) ([]Entry, error)
	// Undos returns up to limit entries of the undo stack with numbers smaller than below, topmost first. Below 0
	// starts at the top, limit 0 means all.
	Undos(ctx context.Context, run string, below int64, limit int) ([]Undo, error)
	// RunTimers returns the timers of one run, nearest first.
	RunTimers(ctx context.Context, run string) ([]TimerRow, error)
	// RunTokens returns the open tokens of one run, ordered by path.
	RunTokens(ctx context.Context, run string) ([]Token, error)
	// RunOutbox returns up to limit messages that one run still has to send, including parked ones, in the order in
	// which they were created. The messages outlive a purge of their run. If a run does not exist and left no
	// messages, RunOutbox returns nothing. Limit 0 means all.
	RunOutbox(ctx context.Context, run string, limit int) ([]Outgoing, error)
	// Token returns the token with that id, or ErrNotFound.
	Token(ctx context.Context, id string) (Token, error)
}

// An AtomQuery selects atoms of a run. The zero query selects all atoms.
type AtomQuery struct {
	Live  bool   // only atoms that the run needs to continue
	After string // only atoms whose paths sort after this one, for paging; "" means all
	Limit int    // maximum number of atoms; 0 means all
}

// An EventQuery selects events of a run's language by [Entry.Number]. The zero query selects all events, in their
// order. Numbers rise with [Entry.Seq] over all flows of the run. They have gaps where the language only counted its
// events.
type EventQuery struct {
	After   int64 // only events after this one: larger numbers or, with Reverse, smaller ones; 0 means all
	Reverse bool  // the last event first
	Limit   int   // maximum number of events; 0 means all
}
