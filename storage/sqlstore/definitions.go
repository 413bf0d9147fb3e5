package sqlstore

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

const (
	insertDefinition = `INSERT INTO definitions (hash, name, version, language, text, created)
VALUES ($1, $2, (SELECT coalesce(max(version), 0) + 1 FROM definitions WHERE name = $2), $3, $4, $5)
ON CONFLICT (hash) DO NOTHING`
	selectDefinitions = `SELECT hash, name, version, language, created FROM definitions`
	countDefinitions  = `SELECT count(*) FROM definitions`
	selectDefinition  = `SELECT hash, name, version, language, text, created FROM definitions WHERE hash = $1`
)

type definitionRow struct {
	unread

	Hash     string
	Name     string
	Version  int64
	Language string
	Text     []byte
	Created  moment
}

func (r *definitionRow) definition() (storage.Definition, error) {
	return storage.Definition{
		Hash: r.Hash, Name: r.Name, Version: r.Version, Language: r.Language, Text: r.Text, Created: r.Created.time(),
	}, legible("name", r.Name)
}

func findDefinition(ctx context.Context, s *session, hash string) (storage.Definition, error) {
	var row definitionRow
	if err := s.Get(ctx, &row, selectDefinition, hash); err != nil {
		return storage.Definition{}, notFound(err, "definition", hash)
	}
	return row.definition()
}

// PutDefinition implements [backend.Definitions.PutDefinition].
func (s *store) PutDefinition(ctx context.Context, def storage.Definition) (out storage.Definition, err error) {
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
		if put > 0 {
			var n int
			if err := w.Get(ctx, &n, countDefinitions); err != nil {
				return err
			}
			if err := rules.CheckDefinitions(n); err != nil {
				return err
			}
		}
		out, err = findDefinition(ctx, w, def.Hash)
		return err
	}})
	return out, err
}

// Definition implements [backend.Definitions.Definition].
func (s *store) Definition(ctx context.Context, hash string) (def storage.Definition, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		def, err = findDefinition(ctx, r, hash)
		return err
	})
	return def, err
}

// listDefinitions returns the SQL of a query, and its arguments without the limit.
func listDefinitions(q *backend.DefinitionQuery) (string, []any) {
	var where []string
	args := arguments{}
	if q.Name != "" {
		where = append(where, `name = `+args.add(q.Name))
	}
	if q.Version != 0 {
		where = append(where, `version = `+args.add(q.Version))
	}
	if q.After != nil { // the first condition finds the place in an index
		name := args.add(q.After.Name)
		where = append(where, `name >= `+name, `(name > `+name+` OR version < `+args.add(q.After.Version)+`)`)
	}
	text := selectDefinitions
	if len(where) > 0 {
		text += ` WHERE ` + strings.Join(where, ` AND `)
	}
	return text + ` ORDER BY name, version DESC LIMIT ` + args.next() + ` + 0`, args
}

// Definitions implements [backend.Definitions.Definitions]. A damaged row is an error if the query is for its name,
// because it may be the version that the caller wants.
func (s *store) Definitions(ctx context.Context, q backend.DefinitionQuery) (out []storage.Definition, err error) {
	text, args := listDefinitions(&q)
	err = s.view(ctx, func(r *session) (err error) {
		if q.Name != "" {
			out, err = intact(ctx, r, (*definitionRow).definition, text, append(args, limitOr(q.Limit))...)
			return err
		}
		out, err = readableFirst(ctx, r, q.Limit, (*definitionRow).definition, text, args...)
		return err
	})
	return out, err
}
