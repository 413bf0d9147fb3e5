package backend

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// Limits of named records. A store refuses more with [storage.ErrInvalid].
const (
	//limit:values kind; key; body of a named record (`backend.MaxRecordKind`, `MaxRecordKey`, `MaxRecordBody`) |
	//limit:and {B}; {MaxRecordKey B}; {MaxRecordBody B}
	MaxRecordKind = 64            // bytes of a kind
	MaxRecordKey  = 1024          // bytes of a key
	MaxRecordBody = atom.MaxValue // bytes of a body
	//limit:values writes of named records at once (`backend.MaxRecordWrites`) | {}
	MaxRecordWrites = 100 // writes of one call of WriteRecords
	//limit:values conditions on which a run starts (`backend.MaxRecordChecks`) | {}
	MaxRecordChecks = 100 // checks of one new run
)

// CheckRecordWrite returns an error that wraps ErrInvalid and names the problem if the write contradicts itself or is
// too large.
func CheckRecordWrite(w *storage.RecordWrite) error {
	problem := ""
	switch {
	case w.Was < storage.AnyRevision:
		problem = fmt.Sprintf("cannot have revision %d", w.Was)
	case w.Delete && w.Keep:
		problem = "is both deleted and kept"
	case (w.Delete || w.Keep) && w.Body != nil:
		problem = "has a body that is not written"
	case w.Delete && w.Was == 0:
		problem = "is deleted although it must not exist"
	case w.Keep && w.Was == storage.AnyRevision:
		problem = "is kept at any revision, which checks nothing"
	case len(w.Body) > MaxRecordBody:
		problem = fmt.Sprintf("has a body of %d bytes; at most %d are possible", len(w.Body), MaxRecordBody)
	}
	if problem != "" {
		return fmt.Errorf("%w: record %.80q of kind %q %s", storage.ErrInvalid, w.Key, w.Kind, problem)
	}
	return checkRecord(w.Kind, w.Key)
}

// CheckCondition returns an error that wraps ErrInvalid and names the problem if no record can meet the condition.
func CheckCondition(c *storage.RecordCheck) error {
	if c.Revision < 0 {
		return fmt.Errorf("%w: record %.80q of kind %q cannot have revision %d",
			storage.ErrInvalid, c.Key, c.Kind, c.Revision)
	}
	return checkRecord(c.Kind, c.Key)
}

// CheckRecordQuery returns an error that wraps ErrInvalid and names the problem if the query cannot be answered.
func CheckRecordQuery(q *storage.RecordQuery) error {
	if len(q.Prefix) > MaxRecordKey {
		return fmt.Errorf("%w: the prefix %.20q… is longer than %d bytes", storage.ErrInvalid, q.Prefix, MaxRecordKey)
	}
	if q.After != nil {
		if err := checkTexts(q.After.Key); err != nil {
			return err
		}
	}
	if err := checkTexts(q.Prefix); err != nil {
		return err
	}
	return checkRecord(q.Kind, "any")
}

// checkRecord returns ErrInvalid if no record has that kind and key.
func checkRecord(kind, key string) error {
	switch {
	case kind == "" || len(kind) > MaxRecordKind:
		return fmt.Errorf("%w: the kind of a record, %.20q, has %d bytes; want 1 to %d", storage.ErrInvalid, kind, len(kind),
			MaxRecordKind)
	case key == "" || len(key) > MaxRecordKey:
		return fmt.Errorf("%w: the key of a record of kind %q, %.20q, has %d bytes; want 1 to %d",
			storage.ErrInvalid, kind, key,
			len(key), MaxRecordKey)
	}
	return checkTexts(kind, key)
}
