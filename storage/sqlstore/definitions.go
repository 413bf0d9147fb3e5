package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

const (
	insertDefinition = `INSERT INTO definitions (hash, name, version, language, text, created)
VALUES ($1, $2, (SELECT coalesce(max(version), 0) + 1 FROM definitions WHERE name = $2), $3, $4, $5)
ON CONFLICT (hash) DO NOTHING`
	selectDefinitions = `SELECT hash, name, version, language, created FROM definitions ORDER BY name, version DESC`
	selectNamed       = `SELECT hash, name, version, language, created FROM definitions WHERE name = $1
		ORDER BY version DESC`

	selectDefinition = `SELECT hash, name, version, language, text, created FROM definitions WHERE hash = $1`
)

type definitionRow struct {
	Hash     string
	Name     string
	Version  int64
	Language string
	Text     []byte
	Created  moment
}

func (r *definitionRow) definition() storage.Definition {
	return storage.Definition{
		Hash: r.Hash, Name: r.Name, Version: r.Version, Language: r.Language, Text: r.Text, Created: r.Created.time(),
	}
}

func findDefinition(ctx context.Context, s *session, hash string) (storage.Definition, error) {
	var row definitionRow
	if err := s.Get(ctx, &row, selectDefinition, hash); err != nil {
		return storage.Definition{}, notFound(err, "definition", hash)
	}
	return row.definition(), nil
}

// PutDefinition implements [storage.Definitions.PutDefinition].
func (s *Store) PutDefinition(ctx context.Context, def storage.Definition) (out storage.Definition, err error) {
	text := def.Text
	if text == nil {
		text = []byte{}
	}
	var put int64
	idle := func() bool { return put == 0 }
	err = s.change(ctx, &write{idle: idle, do: func(ctx context.Context, w *session) (err error) {
		if put, err = w.Exec(ctx, insertDefinition,
			def.Hash, def.Name, def.Language, text, micros(s.dialect.orNow(def.Created))); err != nil {
			return err
		}
		out, err = findDefinition(ctx, w, def.Hash)
		return err
	}})
	return out, err
}

// Definition implements [storage.Definitions.Definition].
func (s *Store) Definition(ctx context.Context, hash string) (def storage.Definition, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		def, err = findDefinition(ctx, r, hash)
		return err
	})
	return def, err
}

// Definitions implements [storage.Definitions.Definitions].
func (s *Store) Definitions(ctx context.Context, name string) (out []storage.Definition, err error) {
	err = s.view(ctx, func(r *session) error {
		var rows []definitionRow
		query, args := selectNamed, []any{name}
		if name == "" {
			query, args = selectDefinitions, nil
		}
		if err := r.All(ctx, &rows, query, args...); err != nil {
			return err
		}
		out = make([]storage.Definition, len(rows))
		for i := range rows {
			out[i] = rows[i].definition()
		}
		return nil
	})
	return out, err
}
