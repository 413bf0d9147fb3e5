package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A NamedRecord is what a program keeps in the store beside its runs, such as the state machines of a server. Kind and
// Key identify it. Only the program that writes it interprets the body.
type NamedRecord struct {
	Kind string // fixed word of the program that writes the record, such as "sfn.machine"
	Key  string // unique within the kind
	// Revision is the number that the store gave to the last write of the record. It is larger than the numbers of all
	// earlier writes of the store, and the store never gives it to another write.
	Revision int64
	Created  time.Time  // when the record came to exist, by the clock of the process that wrote it
	Updated  time.Time  // when it was last written, by the clock of the process that wrote it
	Body     atom.Value // the content; nil if there is none
}

// AnyRevision is the [RecordWrite.Was] of a write that does not depend on the record.
const AnyRevision int64 = -1

// A RecordWrite puts or deletes a named record, or only checks it.
type RecordWrite struct {
	Kind, Key string
	// Was is the revision that the record must have now. 0 means that the record must not exist. With [AnyRevision] the
	// record may have any revision, or not exist.
	Was    int64
	Body   atom.Value // new content of the record
	Delete bool       // delete the record; with AnyRevision it need not exist
	Keep   bool       // change nothing: only check Was
}

// A RecordCheck is a condition: a named record has not changed since the caller read it.
type RecordCheck struct {
	Kind, Key string
	Revision  int64 // revision that the record must have; 0 means that the record must not exist
}

// A RecordQuery selects named records of one kind. The place of After in the listing are its Key and, with ByTime, its
// Created. So a listing continues after a record that has changed or was deleted.
type RecordQuery struct {
	Kind   string // kind of the records; required
	Prefix string // only records whose keys begin with this text
	// ByTime orders the records by Created, then by Key; otherwise they are ordered by Key. Keys are compared by their
	// bytes. The cost of a page by Key depends only on the page. With ByTime and Prefix, the store also passes over the
	// records of the kind that lie between and have another prefix.
	ByTime  bool
	Reverse bool         // the last record first
	After   *NamedRecord // only records that the listing has after the place of this one; nil means all
	Limit   int          // maximum number of records; 0 means all
}

// NamedRecords is the part of a [Store] that keeps named records. They outlive runs: Purge leaves them.
type NamedRecords interface {
	// WriteRecords applies the writes in one transaction, all or nothing. It returns the records in the order of the
	// writes, as they are now. A record that was deleted or kept has only Kind, Key and Revision; the Revision of a
	// deleted one is 0. If a record does not have the revision that its write requires, WriteRecords writes nothing and
	// returns a *[ConflictError]. If several processes write a record with the same Was, one of them succeeds.
	// If a write is invalid, or two writes are for the same record, WriteRecords returns ErrInvalid.
	WriteRecords(ctx context.Context, writes ...RecordWrite) ([]NamedRecord, error)
	// NamedRecord returns the record with that kind and key, or ErrNotFound.
	NamedRecord(ctx context.Context, kind, key string) (NamedRecord, error)
	// NamedRecords returns the records that q selects. With a limit it may return fewer, see [PageBytes]; an
	// empty result means that none is left. [EachRecord] reads them page by page.
	NamedRecords(ctx context.Context, q RecordQuery) ([]NamedRecord, error)
	// CountRecords returns how many records of a kind have keys that begin with prefix. Its cost grows with that
	// number.
	CountRecords(ctx context.Context, kind, prefix string) (int, error)
}

// Against returns a *[ConflictError] if revision is not the revision that the condition requires.
func (c *RecordCheck) Against(revision int64) error {
	if c.Revision == revision {
		return nil
	}
	return &ConflictError{Kind: c.Kind, Key: c.Key, Want: c.Revision, Revision: revision}
}

// A ConflictError is returned if a named record does not have the revision that a write or a new run requires. The
// call wrote nothing.
type ConflictError struct {
	Kind, Key string
	Want      int64 // the required revision; 0 means that the record must not exist
	Revision  int64 // the record's revision; 0 means that it does not exist
}

// Error names the record.
func (e *ConflictError) Error() string {
	name := fmt.Sprintf("storage: record %.80q of kind %q", e.Key, e.Kind)
	switch {
	case e.Want == 0:
		return name + " exists"
	case e.Revision == 0:
		return name + " does not exist"
	}
	return fmt.Sprintf("%s has revision %d, not %d: read it again", name, e.Revision, e.Want)
}

// Unwrap returns [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }
