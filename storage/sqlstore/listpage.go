package sqlstore

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// rows reads the rows of the page.
func (l *listing) rows(ctx context.Context, r *session) (rows []runRow, err error) {
	space := codec.NewSpace(l.q.Limit)
	// Do not prepare the statement: queries have many different texts, and listing is rare.
	err = r.EachOnce(ctx, l.page(), l.args, func(found *sqlx.Rows) (bool, error) {
		rows = append(rows, runRow{})
		row := &rows[len(rows)-1]
		err := scanRow(found, row)
		space.Take(len(row.Input) + len(row.Output) + len(row.Attrs) + len(row.Secrets) + len(row.Failure) + len(row.Memory))
		return !space.Full(), err
	})
	return rows, err
}

// count counts the runs of the page.
func (l *listing) count(ctx context.Context, r *session) (int, error) {
	var found []int
	query := `SELECT count(*) FROM (` + l.union(`1`) + l.limit + `) AS found`
	if err := r.Once(ctx, &found, query, l.args...); err != nil {
		return 0, err
	}
	return found[0], nil
}

// page returns the query for the rows of the page. On SQLite, CROSS JOIN keeps the order of the tables.
func (l *listing) page() string {
	first := l.order(l.at, l.n) + l.limit
	merged := l.union(l.n+` AS n, `+l.at+` AS at`, first)
	if l.parts() > 1 {
		merged = `SELECT n, at FROM (` + merged + `) AS merged` + l.order(`at`, `n`) + l.limit
	}
	return `SELECT ` + runColumns + ` FROM (` + merged + `) AS page
` + l.join() + ` runs r ON r.n = page.n ` + l.join() + ` origins o ON o.n = page.n` + l.order(`page.at`, `page.n`)
}

func (l *listing) join() string {
	if l.dialect.db == onSQLite {
		return `CROSS JOIN`
	}
	return `JOIN`
}

func (l *listing) order(at, n string) string {
	if l.rises() {
		return ` ORDER BY ` + at + `, ` + n
	}
	return ` ORDER BY ` + at + ` DESC, ` + n + ` DESC`
}

// parts returns how many stretches of its index the listing reads.
func (l *listing) parts() int {
	n := max(len(l.values), 1)
	if !l.few && !l.plain {
		n *= len(l.classes)
	}
	return n
}

// union returns a query that selects columns of the runs, with one part for each stretch of the index. It appends then
// to each part.
func (l *listing) union(columns string, then ...string) string {
	// The class contains the state of a run that has ended, so only open runs need this check.
	open := slices.DeleteFunc(slices.Clone(l.q.States), states.Flow.Ended)
	var parts []string
	for conditions, c := range l.stretches() {
		checks := l.checks
		if c != nil && c.open() && len(open) > 0 {
			checks = append(slices.Clone(checks), check{oneOf(&l.args, `r.state`, open), joinsRun})
		}
		part := l.part(columns, conditions, checks) + strings.Join(then, ``)
		if l.parts() > 1 && len(then) > 0 {
			//nolint:unqueryvet // the columns are those of the part
			part = `SELECT * FROM (` + part + `) AS part` + strconv.Itoa(len(parts))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n  UNION ALL ")
}

// stretches yields the conditions of each stretch of the index, and the class of the stretch; nil if the index has no
// classes.
func (l *listing) stretches() iter.Seq2[[]string, *class] {
	values := l.values
	if values == nil {
		values = []string{``}
	}
	return func(yield func([]string, *class) bool) {
		for _, value := range values {
			var conditions []string
			if value != `` {
				conditions = append(conditions, value)
			}
			if l.few || l.plain {
				if !yield(conditions, nil) {
					return
				}
				continue
			}
			for _, c := range l.classes {
				if !yield(append(slices.Clone(conditions), l.n[:1]+`.class = `+strconv.Itoa(int(c))), &c) {
					return
				}
			}
		}
	}
}

// part returns a query for columns of the runs that meet the conditions, those of the listing, and the checks.
func (l *listing) part(columns string, conditions []string, checks []check) string {
	return l.partOf(columns, slices.Concat(l.where, conditions), checks)
}

// partOf returns a query for columns of the runs that meet the conditions and the checks.
func (l *listing) partOf(columns string, conditions []string, checks []check) string {
	from := l.table
	if l.dialect.db == onSQLite && !l.few {
		from += ` INDEXED BY ` + l.index
	}
	reads := func(row join) bool { // the row is not in the table of the index
		return join(l.n[0]) != row && slices.ContainsFunc(checks, func(c check) bool { return c.joins == row })
	}
	if reads(joinsRun) {
		from += ` ` + l.join() + ` runs r ON r.n = ` + l.n
	}
	if reads(joinsOrigin) {
		from += ` ` + l.join() + ` origins o ON o.n = ` + l.n
	}
	conditions = slices.Clone(conditions)
	for _, c := range checks {
		if c.sql != `` {
			conditions = append(conditions, c.sql)
		}
	}
	if len(conditions) == 0 {
		return `SELECT ` + columns + ` FROM ` + from
	}
	return `SELECT ` + columns + ` FROM ` + from + ` WHERE ` + strings.Join(conditions, ` AND `)
}

// reach returns the place of the run that comes after the given number of runs of the listing, not applying checks. It
// returns nil if there are fewer runs. It reads only the index.
func (l *listing) reach(ctx context.Context, r *session, runs int) (*storage.Run, error) {
	var parts []string
	most := l.args.add(runs)
	for conditions := range l.stretches() {
		part := l.part(l.at+` AS at, `+l.n+` AS n`, conditions, nil)
		if l.dialect.locks { // PostgreSQL merges only parts that it knows to be in order
			part = `(` + part + l.order(l.at, l.n) + ` LIMIT ` + most + `)`
		}
		parts = append(parts, part)
	}
	// Each part is in order, so databases read and merge only as many rows as the query needs.
	query := `SELECT at, n FROM (` + strings.Join(parts, "\n  UNION ALL ") + `) AS parts` + l.order(`at`, `n`) +
		` LIMIT 1 OFFSET ` + l.args.add(runs-1)
	query, args := l.args.usedBy(query)
	var rows []struct {
		At moment
		N  int64
	}
	if err := r.Once(ctx, &rows, query, args...); err != nil || len(rows) == 0 {
		return nil, err
	}
	return l.placeAt(rows[0].At.time(), rows[0].N), nil
}
