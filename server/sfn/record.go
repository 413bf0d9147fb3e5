package sfn

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// Kinds of the named records in the store.
const (
	machineKind  = "sfn.machine"  // key: the name
	versionKind  = "sfn.version"  // key: see versionKey
	aliasKind    = "sfn.alias"    // key: see aliasKey
	activityKind = "sfn.activity" // key: the name
	secretKind   = "sfn.secret"   // key: pageSecret
)

// read reads a record's body into a value. It returns the record, or [storage.ErrNotFound].
func (s *Server) read(ctx context.Context, kind, key string, into any) (storage.NamedRecord, error) {
	record, err := s.config.Store.NamedRecord(ctx, kind, key)
	if err != nil {
		return record, err
	}
	return record, decode(&record, into)
}

func decode(record *storage.NamedRecord, into any) error {
	if err := record.Body.Decode(into); err != nil {
		return fmt.Errorf("sfn: record %q of kind %q: %w", record.Key, record.Kind, err)
	}
	return nil
}

// put returns the write that gives a record a new body.
func put(kind, key string, was int64, body any) storage.RecordWrite {
	return storage.RecordWrite{Kind: kind, Key: key, Was: was, Body: atom.MustEncode(body)}
}

// remove returns the write that deletes a record that has not changed since it was read.
func remove(record *storage.NamedRecord) storage.RecordWrite {
	return storage.RecordWrite{Kind: record.Kind, Key: record.Key, Was: record.Revision, Delete: true}
}

// errUnchanged is returned by a change that has nothing to write.
var errUnchanged = errors.New("sfn: nothing to write")

// maxTries bounds how often an operation reads its records again because another one has written them meanwhile.
const maxTries = 20

// retried calls do until no other operation writes the records that it has read.
func retried(ctx context.Context, do func() error) error {
	var err error
	for range maxTries {
		if err = do(); !errors.Is(err, storage.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("sfn: other operations wrote the same records %d times: %w", maxTries, err)
}
