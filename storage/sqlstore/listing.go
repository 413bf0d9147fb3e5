package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A listing answers a RunQuery from one index. For each value that a query selects by, such as a label, the index has
// the runs class by class, and within a class by their time. So the listing reads a page of each class that the query
// selects, and merges these pages. What the index does not decide is checked run by run.
//
// Runs that are due, or that need a person, are few. They are found by other indexes, and sorted.
type listing struct {
	q       *storage.RunQuery
	dialect *dialect
	args    arguments

	table   string   // of the index: runs r, or labels l
	index   string   // "" if the runs are few
	n, at   string   // its columns of the run's number, and of the time by which the listing is ordered
	where   []string // conditions on the value of the index, and on the time
	classes []class  // to read, each by itself; nil if the runs are few
	few     bool
	checks  []string // conditions on the run's row r and on other rows
	limit   string
}

// arguments collects the arguments of a query that is built from conditions.
type arguments []any

// add adds an argument and returns its placeholder.
func (a *arguments) add(value any) string {
	*a = append(*a, value)
	return "$" + strconv.Itoa(len(*a))
}

// newListing chooses the index, and reads which classes it has.
func newListing(ctx context.Context, r *session, q *storage.RunQuery) (*listing, error) {
	l, find, args := listingOf(q, r.dialect)
	if l.few {
		return l, nil
	}
	if err := r.All(ctx, &l.classes, find, args...); err != nil {
		return nil, err
	}
	l.classes = slices.DeleteFunc(l.classes, func(c class) bool { return !l.selects(c) })
	return l, nil
}

// listingOf returns a listing that has no classes yet, and the query for the classes that its index has.
func listingOf(q *storage.RunQuery, d *dialect) (l *listing, find string, args []any) {
	l = &listing{q: q, dialect: d, table: `runs r`, index: `runs`, n: `r.n`}
	l.findFew()
	find, args = l.choose()
	l.bound()
	if q.Limit > 0 {
		l.limit = ` LIMIT ` + l.args.add(q.Limit)
	}
	return l, find, args
}

// findFew finds runs that are due or need a person.
func (l *listing) findFew() {
	q := l.q
	if !q.Due.IsZero() {
		due := l.args.add(micros(q.Due))
		// One index contains the runs in buckets, another the rest.
		l.where = append(l.where, `r.owner = '' AND r.n IN (SELECT n FROM runs WHERE bucket IS NULL AND due <= `+due+`
  UNION ALL SELECT n FROM runs WHERE bucket IS NOT NULL AND due <= `+due+`)`)
	}
	if q.Stuck {
		l.where = append(l.where, `r.n IN (SELECT n FROM runs WHERE `+needsPerson+`)`)
	}
	if l.few = len(l.where) > 0; !l.few {
		return
	}
	if q.Top {
		l.checks = append(l.checks, `r.child = 0`)
	}
	if len(q.States) > 0 {
		l.checks = append(l.checks, oneOf(&l.args, `r.state`, q.States))
	}
	if len(q.Outcomes) > 0 {
		l.checks = append(l.checks, oneOf(&l.args, `r.outcome`, q.Outcomes))
	}
}

// oneOf returns the condition that a column has one of the values.
func oneOf[T any](args *arguments, column string, values []T) string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = args.add(value)
	}
	return column + ` IN (` + strings.Join(list, `, `) + `)`
}

// classesBy selects the classes that an index has for a value. Each step of the recursion reads one row.
func classesBy(table, value string) string {
	least := `(SELECT min(class) FROM ` + table + ` WHERE ` + value
	return `WITH RECURSIVE present (class) AS (SELECT ` + least + `class >= 0)
  UNION ALL SELECT ` + least + `class > present.class) FROM present WHERE present.class IS NOT NULL)
SELECT class FROM present WHERE class IS NOT NULL`
}

var (
	selectClasses        = classesBy(`runs`, ``)
	selectClassesOfFlow  = classesBy(`runs`, `flow = $1 AND `)
	selectClassesOfLabel = classesBy(`labels`, `key = $1 AND value = $2 AND `)
)

// choose chooses the value by which the index finds the runs: the parent, else the first label, else the flow. The
// others become checks. It returns the query for the classes that the index has for that value.
func (l *listing) choose() (find string, args []any) {
	q, chosen := l.q, l.few
	find = selectClasses
	byLabel := func(key, value string) {
		k, v := l.args.add(key), l.args.add(value)
		if chosen {
			l.checks = append(l.checks, `EXISTS (SELECT 1 FROM labels WHERE run = r.n AND key = `+k+` AND value = `+v+`)`)
			return
		}
		chosen, l.table, l.index, l.n = true, `labels l`, `labels`, `l.run`
		l.where = append(l.where, `l.key = `+k+` AND l.value = `+v)
		find, args = selectClassesOfLabel, []any{key, value}
	}
	if q.Parent != "" {
		byLabel(parentKey, q.Parent)
	}
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		byLabel(key, q.Labels[key])
	}
	if q.Flow != "" {
		is := `r.flow = ` + l.args.add(q.Flow)
		if chosen { // so that PostgreSQL does not take the index by flow
			l.checks = append(l.checks, `CASE WHEN r.n IS NOT NULL THEN `+is+` END`)
		} else {
			l.where, l.index = append(l.where, is), `runs_flow`
			find, args = selectClassesOfFlow, []any{q.Flow}
		}
	}
	return find, args
}

// selects reports whether the query selects runs of the class. The state of runs that have not ended is checked run by
// run.
func (l *listing) selects(c class) bool {
	q := l.q
	state := func(s states.Flow) bool { return s == c.state() || c.open() && !s.Ended() }
	return (len(q.States) == 0 || slices.ContainsFunc(q.States, state)) &&
		(len(q.Outcomes) == 0 || slices.Contains(q.Outcomes, c.outcome())) && (!q.Top || !c.child())
}

// bound adds the conditions on the times, and on the place after which the listing continues.
func (l *listing) bound() {
	q, of := l.q, l.n[:1]
	at, from, to := `.created`, q.CreatedFrom, q.CreatedTo
	place := func(r *storage.Run) time.Time { return r.Created }
	switch {
	case !q.Due.IsZero():
		at, from, to = `.due`, time.Time{}, time.Time{}
		place = func(r *storage.Run) time.Time { return r.Due }
	case q.Order == storage.ByEnded:
		at, from, to = `.ended`, q.EndedFrom, q.EndedTo
		place = func(r *storage.Run) time.Time { return r.Ended }
		l.where = append(l.where, of+`.ended IS NOT NULL`)
	}
	l.index += strings.Replace(at, `.`, `_`, 1)
	if l.at = of + at; at != `.created` {
		l.checks = append(l.checks, l.within(`r.created`, q.CreatedFrom, q.CreatedTo)...)
	}
	if at != `.ended` {
		l.checks = append(l.checks, l.within(`r.ended`, q.EndedFrom, q.EndedTo)...)
	}
	if q.After != nil {
		// Of the place and the bound on the same side only one can exclude runs. With both, SQLite may seek the other.
		last := place(q.After)
		switch {
		case l.rises() && last.UnixMicro() < from.UnixMicro(),
			!l.rises() && !to.IsZero() && last.UnixMicro() >= to.UnixMicro():
		case l.rises():
			from = time.Time{}
			l.where = append(l.where, l.beyond(` > `, last))
		default:
			to = time.Time{}
			l.where = append(l.where, l.beyond(` < `, last))
		}
	}
	l.where = append(l.where, l.within(l.at, from, to)...)
}

// beyond returns the condition that a run comes after the place.
func (l *listing) beyond(than string, last time.Time) string {
	at, n := l.args.add(last.UnixMicro()), l.args.add(l.q.After.Number)
	return `(` + l.at + `, ` + l.n + `)` + than + `(` + at + `, ` + n + `)`
}

// within returns the conditions that a time is in the range.
func (l *listing) within(column string, from, to time.Time) (conditions []string) {
	if !from.IsZero() {
		conditions = append(conditions, column+` >= `+l.args.add(from.UnixMicro()))
	}
	if !to.IsZero() {
		conditions = append(conditions, column+` < `+l.args.add(to.UnixMicro()))
	}
	return conditions
}

// rises reports whether the listing begins with the oldest run.
func (l *listing) rises() bool { return l.q.Reverse || !l.q.Due.IsZero() }

// empty reports whether there is no run to read.
func (l *listing) empty() bool { return !l.few && len(l.classes) == 0 }
