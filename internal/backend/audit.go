package backend

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Audits is the part of a [Store] that lists who commanded what.
type Audits interface {
	// Audit returns up to q.Limit lines that q selects, newest first. It may return fewer, see [storage.PageBytes]; an
	// empty result means that none is left.
	Audit(ctx context.Context, q AuditQuery) ([]AuditLine, error)
	// WriteAudit adds a line about something that has no history of its own, such as a job. The lines of a run are
	// the entries of its history with the kind EntryCommand; the commit of such an entry adds its line.
	WriteAudit(ctx context.Context, line AuditLine) error
}

// An AuditLine says who commanded what, and whether it was refused. Purging a run deletes its lines.
type AuditLine struct {
	N       int64         // number of the line, given by the store; later lines have larger numbers
	Run     string        // id of the run; "" if it is about something else
	Subject string        // what it is about, if not a run, such as "job nightly-7"
	Entry   storage.Entry // the line: an entry with the kind EntryCommand; Seq is 0 if Run is ""
}

// Check returns an error that wraps ErrInvalid if [Audits.WriteAudit] cannot write the line.
func (l *AuditLine) Check() error {
	switch {
	case l.Run != "" || l.Subject == "" || len(l.Subject) > MaxSubject:
		return fmt.Errorf("%w: want a subject of 1 to %d bytes and no run", storage.ErrInvalid, MaxSubject)
	case l.Entry.Kind != storage.EntryCommand || l.Entry.Issuer == nil || l.Entry.Type == "":
		return fmt.Errorf("%w: want an entry of a command, with its type and its issuer", storage.ErrInvalid)
	}
	return checkTexts(l.Subject, l.Entry.Type, l.Entry.Path, l.Entry.Issuer.Name)
}

// MaxSubject is the maximum length of the subject of an [AuditLine] in bytes.
const MaxSubject = 2 * MaxID

// An AuditQuery selects lines of [Audits]. The zero query selects all lines.
type AuditQuery struct {
	Below int64  // only lines with smaller numbers, for paging; 0 means all
	Run   string // only lines about this run; "" means all
	Limit int    // maximum number of lines; 0 means all
}

// Audited returns the line of a command about something that has no history of its own, given now.
func Audited(by storage.Issuer, verb, subject string, now time.Time) AuditLine {
	done := storage.Entry{Kind: storage.EntryCommand, Time: now, Type: verb, Issuer: &by}
	return AuditLine{Subject: subject, Entry: done}
}

type besideKey struct{}

type beside struct {
	line    *AuditLine
	records []storage.RecordWrite
}

// Beside returns the context of one call of [Jobs], [Schedules], [Limiter] or [Definitions] that changes something for
// a command. Stores then commit the line and the writes of records in the transaction of that change: all or nothing.
// They write neither if the call changes nothing. If a record does not have the revision that its write requires, the
// call changes nothing and returns a *[storage.ConflictError]. A nil line writes no line.
func Beside(ctx context.Context, line *AuditLine, records ...storage.RecordWrite) context.Context {
	return context.WithValue(ctx, besideKey{}, beside{line, records})
}

// IsBeside returns what a store commits beside the call with this context, see [Beside].
func IsBeside(ctx context.Context) (line *AuditLine, records []storage.RecordWrite) {
	b, _ := ctx.Value(besideKey{}).(beside)
	return b.line, b.records
}
