package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A storedMachine is what the server keeps of a state machine and its versions.
type storedMachine struct {
	name        string
	records     []storage.NamedRecord
	definitions []storage.Definition
}

// copyMachine stores a machine under other names, as the server would: each copy has its own records and definitions.
// Creating them over the API takes minutes.
func (s *server) copyMachine(ctx context.Context, name string, names []string) (err error) {
	store, err := sqlstore.Open(ctx, s.at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }() //nolint:contextcheck // it has its own
	of := storedMachine{name: name}
	machine, err := store.NamedRecord(ctx, "sfn.machine", name)
	if err != nil {
		return err
	}
	versions, err := store.NamedRecords(ctx, storage.RecordQuery{Kind: "sfn.version", Prefix: name + ":"})
	if err != nil {
		return err
	}
	of.records = slices.Concat(versions, []storage.NamedRecord{machine})
	described, err := store.Definitions(ctx, backend.DefinitionQuery{Name: name})
	if err != nil {
		return err
	}
	for _, d := range described {
		d, err := store.Definition(ctx, d.Hash)
		if err != nil {
			return err
		}
		of.definitions = append(of.definitions, d)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.clients)
	for _, to := range names {
		group.Go(func() error { return of.copyTo(ctx, store, to) })
	}
	return group.Wait()
}

// copyTo stores the machine under one other name.
func (m *storedMachine) copyTo(ctx context.Context, store backend.Store, to string) error {
	replaced := []string{`"` + m.name + `"`, `"` + to + `"`}
	for _, d := range m.definitions {
		hash := backend.DefinitionHash(to, d.Language, d.Text)
		replaced = append(replaced, d.Hash, hash)
		if _, err := store.PutDefinition(ctx, storage.Definition{
			Hash: hash, Name: to, Language: d.Language, Text: bytes.Clone(d.Text),
		}); err != nil {
			return err
		}
	}
	body := strings.NewReplacer(replaced...)
	writes := make([]storage.RecordWrite, len(m.records))
	for i, r := range m.records {
		writes[i] = storage.RecordWrite{
			Kind: r.Kind, Key: to + strings.TrimPrefix(r.Key, m.name), Body: []byte(body.Replace(string(r.Body))),
		}
	}
	_, err := store.WriteRecords(ctx, writes...)
	return err
}
