package inspect

import (
	"context"

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

// Audit returns the lines that q selects, newest first. With a limit it returns fewer only if they have
// [storage.PageBytes], or none is left. Next is the number below which the next page begins; 0 if no line is left.
// Errors are the store's.
func Audit(ctx context.Context, store backend.Audits, q backend.AuditQuery) (out []AuditLine, next int64, err error) {
	out = []AuditLine{}
	bytes := 0
	for limit := q.Limit; limit == 0 || len(out) < limit && bytes < storage.PageBytes; {
		if limit > 0 {
			q.Limit = limit - len(out)
		}
		page, err := store.Audit(ctx, q)
		if err != nil || len(page) == 0 {
			return out, 0, err
		}
		for i := range page {
			l := &page[i]
			line := AuditLine{l.N, l.Run, l.Subject, EntryOf(&storage.Secrets{}, &l.Entry)}
			if l.Run == "" {
				line.To = Issued
			}
			out = append(out, line)
			bytes += codec.SizeOfEntry(&l.Entry)
			q.Below = l.N
		}
	}
	return out, q.Below, nil
}
