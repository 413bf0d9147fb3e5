package session

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Issuer returns who uses the command. The name is not checked: a process that opens the database can give any.
func (s *Session) Issuer() storage.Issuer {
	name := cmp.Or(s.by, os.Getenv("LOGNAME"), os.Getenv("USER"), os.Getenv("USERNAME"))
	return storage.Issuer{Via: storage.ViaCommand, Name: name}
}

// Audited returns the context of a call that changes something that has no history of its own, such as "job nightly-7".
// The line that says so is committed with the change.
func (s *Session) Audited(ctx context.Context, verb, subject string) context.Context {
	line := backend.Audited(s.Issuer(), verb, subject, time.Now())
	return backend.Beside(ctx, &line)
}
