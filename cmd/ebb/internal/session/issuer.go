package session

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Issuer returns who uses the command. The name is not checked: a process that opens the database can give any.
func (s *Session) Issuer() storage.Issuer {
	name := cmp.Or(s.by, os.Getenv("LOGNAME"), os.Getenv("USER"), os.Getenv("USERNAME"))
	return storage.Issuer{Via: storage.ViaCommand, Name: name}
}

// Audit records that the user of the command is about to change something that has no history of its own, such as "job
// nightly-7". It comes before the change, so that no change is without its line.
func (s *Session) Audit(ctx context.Context, store storage.Audits, verb, subject string) error {
	return store.WriteAudit(ctx, storage.Command(s.Issuer(), verb, subject, time.Now()))
}
