package records

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// Records reads and writes the named records of one service. [New] creates it.
type Records struct {
	store    storage.NamedRecords
	service  string            // such as "sfn": kinds of records begin with it
	badToken func(error) error // what a client receives for a page token that is not valid

	mu     sync.Mutex
	tokens *aws.Tokens // of pages; nil until needed
}

// New returns the records of a service. A client that sends a bad page token receives what badToken returns for
// [aws.ErrToken] or [aws.ErrTokenExpired].
func New(store storage.NamedRecords, service string, badToken func(error) error) *Records {
	return &Records{store: store, service: service, badToken: badToken}
}

// Read reads a record's body into a value. It returns the record, or [storage.ErrNotFound].
func (s *Records) Read(ctx context.Context, kind, key string, into any) (storage.NamedRecord, error) {
	record, err := s.store.NamedRecord(ctx, kind, key)
	if err != nil {
		return record, err
	}
	return record, Decode(&record, into)
}

// Decode decodes a record's body into a value.
func Decode(record *storage.NamedRecord, into any) error {
	if err := record.Body.Decode(into); err != nil {
		return fmt.Errorf("record %q of kind %q: %w", record.Key, record.Kind, err)
	}
	return nil
}

// Put returns the write that gives a record a new body.
func Put(kind, key string, was int64, body any) storage.RecordWrite {
	return storage.RecordWrite{Kind: kind, Key: key, Was: was, Body: atom.MustEncode(body)}
}

// Remove returns the write that deletes a record that has not changed since it was read.
func Remove(record *storage.NamedRecord) storage.RecordWrite {
	return storage.RecordWrite{Kind: record.Kind, Key: record.Key, Was: record.Revision, Delete: true}
}

// ErrUnchanged is returned by a change that has nothing to write.
var ErrUnchanged = errors.New("records: nothing to write")

// maxTries bounds how often an operation reads its records again because another one has written them meanwhile.
const maxTries = 20

// Retried calls do until no other operation writes the records that it has read.
func Retried(ctx context.Context, do func() error) error {
	var err error
	for range maxTries {
		if err = do(); !errors.Is(err, storage.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("records: other operations wrote the same records %d times: %w", maxTries, err)
}
