package sqlstore

import (
	"context"
	"encoding/json"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// numbered begins with the numbers of runs, so that databases find the rows of each by their keys.
var numbered = statement{
	onSQLite:   `json_each($1) AS v CROSS JOIN `,
	onPostgres: `(SELECT CAST(n AS BIGINT) AS value FROM json_array_elements_text(CAST($1 AS JSON)) AS j (n)) AS v JOIN `,
}

// InProgress implements [backend.Lists.InProgress].
func (s *store) InProgress(ctx context.Context, runs []storage.Run, most int) (
	list []backend.Progress, cut bool, err error,
) {
	list = make([]backend.Progress, len(runs))
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

	list  []backend.Progress
	place map[int64]int // in list, by the number of the run
	of    string        // the numbers
	most  int
	cut   bool
}

// rows reads up to most rows, and reports whether there are more. The query has the runs as v.
func rows[T, V any, P lossy[T]](ctx context.Context, p *progress, decode func(P) (V, error), columns, tables string,
) (found []V, err error) {
	query := `SELECT ` + columns + ` FROM ` + numbered[p.dialect.db] + tables + ` LIMIT $2 + 0`
	if found, err = readable(ctx, p.session, decode, query, p.of, p.most+1); len(found) > p.most {
		found, p.cut = found[:p.most], true
	}
	return found, err
}

// An atomRow is an atom of a run's table.
type atomRow struct {
	unread

	Run    int64
	Path   string
	Record []byte
}

// A newestRow has the newest records of a run.
type newestRow struct {
	unread

	N      int64
	Recent []byte
}

func (p *progress) atoms(ctx context.Context) error {
	type recent struct {
		n      int64
		byPath map[string]inline.Atom
	}
	newest, err := rows(ctx, p, func(row *newestRow) (recent, error) {
		byPath, err := inline.Records(row.Recent).ByPath()
		return recent{row.N, byPath}, err
	}, `r.n, r.recent`, `runs r ON r.n = v.value`)
	if err != nil {
		return err
	}
	tables := map[int64][]inline.Row{}
	if _, err := rows(ctx, p, func(row *atomRow) (bool, error) {
		tables[row.Run] = append(tables[row.Run], inline.Row{Path: row.Path, Record: row.Record})
		return true, nil
	}, `a.run, a.path, a.record`, `atoms a ON a.run = v.value`); err != nil {
		return err
	}
	left := p.most
	for _, row := range newest {
		records := inline.Over(tables[row.n], row.byPath, func(_ string, a *inline.Atom) bool { return a.IsLive() })
		for _, record := range records {
			if left == 0 {
				p.cut = true
				return nil
			}
			left--
			a, err := codec.DecodeAtom(record.Path, record.Record, noPayload)
			if p.dialect.damage.leftOut(err) {
				continue
			} else if err != nil {
				return err
			}
			at := &p.list[p.place[row.n]]
			at.Atoms = append(at.Atoms, a)
		}
	}
	return nil
}

// noPayload leaves values that are payloads out.
func noPayload(int64) (atom.Value, error) { return nil, nil }

func (p *progress) tokens(ctx context.Context) error {
	_, err := rows(ctx, p, func(row *tokenRow) (bool, error) {
		token, err := row.token()
		if err == nil {
			at := &p.list[p.place[row.N]]
			at.Tokens = append(at.Tokens, token)
		}
		return true, err
	}, tokenFields,
		`tokens ON tokens.run = v.value AND tokens.state = `+tokenOpen+` JOIN origins o ON o.n = tokens.run`)
	return err
}

func (p *progress) timers(ctx context.Context, runs []storage.Run) error {
	_, err := rows(ctx, p, func(row *timerRow) (bool, error) {
		place := p.place[row.Run]
		timer, err := row.timer(runs[place].ID)
		p.list[place].Timers = append(p.list[place].Timers, timer)
		return true, err
	}, `t.run, t.path, t.kind, t.incarnation, t.due`, `timers t ON t.run = v.value`)
	return err
}
