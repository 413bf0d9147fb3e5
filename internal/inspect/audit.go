package inspect

import (
	"context"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
)

// An AuditLine is one line of `ebb audit -o json`: who commanded what, and whether it was refused.
type AuditLine struct {
	N       int64  `json:"n"`                 // number of the line, rising
	Run     string `json:"run,omitempty"`     // id of the run that got the command
	Subject string `json:"subject,omitempty"` // what it is about if not a run, such as "job nightly-7"
	Entry
}

// Issuer returns who gave the command, and how, as a text for people.
func (l *AuditLine) Issuer() string {
	by := storage.Issuer{Via: storage.Via(l.Via), Name: l.By}
	return by.String()
}

// An AuditFilter selects lines of the audit. The zero filter selects all but those of posted jobs, which would hide the
// others.
type AuditFilter struct {
	By       string    // name of who gave the command; "" means anyone
	Command  string    // such as "cancel", or "bulk" for all bulk commands; "" means any
	From, To time.Time // range of the time, without its end; zero is no bound
	Posts    bool      // only posted jobs
}

// has reports whether the filter selects a line.
func (f *AuditFilter) has(l *AuditLine) bool {
	posts := l.Command == "post" && l.Run == ""
	return posts == f.Posts && (f.By == "" || l.By == f.By) && !l.Time.Before(f.From) &&
		(f.Command == "" || l.Command == f.Command || strings.HasPrefix(l.Command, f.Command+" ")) &&
		(f.To.IsZero() || l.Time.Before(f.To))
}

// AuditRead is the number of lines that a page of the REST API and of the console looks at.
//
//limit:http lines of the audit that one page looks at | {} | the next page
const AuditRead = 20_000

// auditAtOnce is the number of lines that are read at a time.
const auditAtOnce = 500

// clocksDiffer is how far the times of lines, which several processes write, may be out of order.
const clocksDiffer = time.Minute

// Audit returns the lines that the query and the filter select, newest first. With a limit it returns fewer only if
// they have [storage.PageBytes], none is left, or it has looked at as many lines as most says; 0 means all. Next is the
// number below which the next page begins; 0 if no line is left. Errors are the store's.
func Audit(ctx context.Context, store backend.Audits, q backend.AuditQuery, f *AuditFilter, most int) (
	out []AuditLine, next int64, err error,
) {
	out = []AuditLine{}
	bytes, limit := 0, q.Limit
	q.Limit = auditAtOnce
	for looked := 0; most == 0 || looked < most; {
		page, err := store.Audit(ctx, q)
		if err != nil || len(page) == 0 {
			return out, 0, err
		}
		looked += len(page)
		for i := range page {
			l := &page[i]
			q.Below = l.N
			line := AuditLine{l.N, l.Run, l.Subject, EntryOf(&storage.Secrets{}, &l.Entry)}
			if line.Time.Before(f.From.Add(-clocksDiffer)) {
				return out, 0, nil
			}
			if !f.has(&line) {
				continue
			}
			if l.Run == "" {
				line.To = Issued
			}
			out = append(out, line)
			if bytes += codec.SizeOfEntry(&l.Entry); limit > 0 && (len(out) == limit || bytes >= storage.PageBytes) {
				return out, q.Below, nil
			}
		}
	}
	return out, q.Below, nil
}
