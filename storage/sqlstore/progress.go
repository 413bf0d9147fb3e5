package sqlstore

import (
	"context"
	"encoding/json"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// numbered begins with the numbers of runs, so that databases find the rows of each by their keys.
var numbered = statement{
	onSQLite:   `json_each($1) AS v CROSS JOIN `,
	onPostgres: `(SELECT CAST(n AS BIGINT) AS value FROM json_array_elements_text(CAST($1 AS JSON)) AS j (n)) AS v JOIN `,
}

// InProgress implements [storage.Lists.InProgress].
func (s *Store) InProgress(ctx context.Context, runs []storage.Run, most int) (
	list []storage.Progress, cut bool, err error,
) {
	list = make([]storage.Progress, len(runs))
	if len(runs) == 0 {
		return list, false, nil
	}
	place := make(map[int64]int, len(runs))
	numbers := make([]int64, len(runs))
	for i := range runs {
		numbers[i], place[runs[i].Number] = runs[i].Number, i
	}
	of, err := json.Marshal(numbers)
	if err != nil {
		return nil, false, err
	}
	err = s.view(ctx, func(r *session) error {
		p := progress{r, list, place, string(of), most, false}
		if err := p.atoms(ctx); err != nil {
			return err
		}
		if err := p.tokens(ctx); err != nil {
			return err
		}
		err := p.timers(ctx, runs)
		cut = p.cut
		return err
	})
	return list, cut, err
}

// progress is what InProgress reads, and reads it into.
type progress struct {
	*session

	list  []storage.Progress
	place map[int64]int // in list, by the number of the run
	of    string        // the numbers
	most  int
	cut   bool
}

// rows reads up to most rows, and reports whether there are more. The query has the runs as v.
func rows[T any](ctx context.Context, p *progress, columns, tables string) (found []T, err error) {
	query := `SELECT ` + columns + ` FROM ` + numbered[p.dialect.db] + tables + ` LIMIT $2 + 0`
	if err = p.All(ctx, &found, query, p.of, p.most+1); len(found) > p.most {
		found, p.cut = found[:p.most], true
	}
	return found, err
}

func (p *progress) atoms(ctx context.Context) error {
	type recent struct {
		N      int64
		Recent []byte
	}
	type live struct {
		Run    int64
		Path   string
		Record []byte
	}
	newest, err := rows[recent](ctx, p, `r.n, r.recent`, `runs r ON r.n = v.value`)
	if err != nil {
		return err
	}
	older, err := rows[live](ctx, p, `a.run, a.path, a.record`, `atoms a ON a.run = v.value`)
	if err != nil {
		return err
	}
	tables := map[int64][]inline.Row{}
	for _, row := range older {
		tables[row.Run] = append(tables[row.Run], inline.Row{Path: row.Path, Record: row.Record})
	}
	left := p.most
	for _, row := range newest {
		byPath, err := inline.Records(row.Recent).ByPath()
		if err != nil {
			return err
		}
		records := inline.Over(tables[row.N], byPath, func(_ string, a *inline.Atom) bool { return a.IsLive() })
		for _, record := range records {
			if left == 0 {
				p.cut = true
				return nil
			}
			left--
			a, err := codec.DecodeAtom(record.Path, record.Record, noPayload)
			if err != nil {
				return err
			}
			at := &p.list[p.place[row.N]]
			at.Atoms = append(at.Atoms, a)
		}
	}
	return nil
}

// noPayload leaves values that are payloads out.
func noPayload(int64) (atom.Value, error) { return nil, nil }

func (p *progress) tokens(ctx context.Context) error {
	found, err := rows[tokenRow](ctx, p, tokenFields,
		`tokens ON tokens.run = v.value AND tokens.state = `+tokenOpen+` JOIN origins o ON o.n = tokens.run`)
	if err != nil {
		return err
	}
	for i := range found {
		token, err := found[i].token()
		if err != nil {
			return err
		}
		at := &p.list[p.place[found[i].N]]
		at.Tokens = append(at.Tokens, token)
	}
	return nil
}

func (p *progress) timers(ctx context.Context, runs []storage.Run) error {
	type timer struct {
		timerRow

		Run int64
	}
	found, err := rows[timer](ctx, p, `t.run, t.path, t.kind, t.incarnation, t.due`, `timers t ON t.run = v.value`)
	if err != nil {
		return err
	}
	for i := range found {
		place := p.place[found[i].Run]
		p.list[place].Timers = append(p.list[place].Timers, found[i].row(runs[place].ID))
	}
	return nil
}
