package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/states"
)

// rows reads the page of the listing.
func (l *listing) rows(ctx context.Context, r *session) (rows []runRow, err error) {
	// Do not prepare the statement: there are many texts, and listing is rare.
	err = r.Once(ctx, &rows, l.page(), l.args...)
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
	if len(l.classes) > 1 {
		merged = `SELECT n, at FROM (` + merged + `) AS merged` + l.order(`at`, `n`) + l.limit
	}
	return `SELECT ` + runColumns + ` FROM (` + merged + `) AS page
` + l.join() + ` runs r ON r.n = page.n ` + l.join() + ` origins o ON o.n = page.n` + l.order(`page.at`, `page.n`)
}

func (l *listing) join() string {
	if l.dialect == fileDialect {
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

// union returns the columns of the runs, class by class. What follows is appended to the SELECT of each class.
func (l *listing) union(columns string, then ...string) string {
	if l.few {
		return l.part(columns, nil) + strings.Join(then, ``)
	}
	// The class says what the state of a run that has ended is.
	open := slices.DeleteFunc(slices.Clone(l.q.States), states.Flow.Ended)
	parts := make([]string, len(l.classes))
	for i, c := range l.classes {
		conditions := []string{l.n[:1] + `.class = ` + strconv.Itoa(int(c))}
		if c.open() && len(open) > 0 {
			conditions = append(conditions, oneOf(&l.args, `r.state`, open))
		}
		parts[i] = l.part(columns, conditions) + strings.Join(then, ``)
		if len(l.classes) > 1 && len(then) > 0 {
			//nolint:unqueryvet // the columns are those of the part
			parts[i] = `SELECT * FROM (` + parts[i] + `) AS part` + strconv.Itoa(i)
		}
	}
	return strings.Join(parts, "\n  UNION ALL ")
}

// part returns the columns of the runs that meet the conditions and those of the listing.
func (l *listing) part(columns string, conditions []string) string {
	from := l.table
	if l.dialect == fileDialect && !l.few {
		from += ` INDEXED BY ` + l.index
	}
	if l.n != `r.n` && (len(conditions) > 1 || len(l.checks) > 0) { // the class is beside the labels
		from += ` ` + l.join() + ` runs r ON r.n = l.run`
	}
	conditions = slices.Concat(l.where, conditions, l.checks)
	return `SELECT ` + columns + ` FROM ` + from + ` WHERE ` + strings.Join(conditions, ` AND `)
}
