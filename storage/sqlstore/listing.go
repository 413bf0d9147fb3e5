package sqlstore

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A listing answers a RunQuery from one index. For each value that a query selects by, such as a label, the index
// contains the runs by class, and within a class by time. The listing reads a page of each class that the query
// selects, and merges these pages. It checks the other conditions run by run.
//
// Few runs are due, need a person, or have a rare text. The listing finds these through other indexes, and sorts them.
type listing struct {
	q       *storage.RunQuery
	dialect *dialect
	args    arguments
	by      choice
	until   *storage.Run // place of the last run to look at; nil means all

	table   string   // table of the index: runs r, labels l or origins o
	index   string   // "" if the runs are few
	n, at   string   // columns of the table: the run's number, and the time that orders the listing
	where   []string // conditions on the columns of the index, including the time
	always  []string // the same without those on the time
	values  []string // conditions, each of which selects the runs with one value of the index
	classes []class  // classes to read, each on its own; nil if the index has none
	few     bool
	plain   bool    // the index is not divided into classes
	checks  []check // conditions that the index does not decide
	limit   string
}

// A check is a condition that the index of a listing does not decide. The query joins the row that the check reads.
type check struct {
	sql   string // "" if only the selected columns need the row, and no condition
	joins join
}

// A join names the row that a check reads, by its alias in the query.
type join byte

const (
	joinsNone   join = 0   // the check reads the index only, or has a subquery
	joinsRun    join = 'r' // the run's row in runs
	joinsOrigin join = 'o' // the run's row in origins
)

// arguments collects the arguments of a query that is built from conditions.
type arguments []any

// add adds an argument and returns its placeholder.
func (a *arguments) add(value any) string {
	*a = append(*a, value)
	return "$" + strconv.Itoa(len(*a))
}

// next returns the placeholder of the argument that follows.
func (a *arguments) next() string { return "$" + strconv.Itoa(len(*a)+1) }

var placeholder = regexp.MustCompile(`\$[0-9]+`)

// usedBy returns the arguments that a query uses, and the query with placeholders for only these. A server refuses
// arguments that a query does not use.
func (a *arguments) usedBy(query string) (renumbered string, used []any) {
	var kept arguments
	renumbered = placeholder.ReplaceAllStringFunc(query, func(name string) string {
		n, err := strconv.Atoi(name[1:])
		if err != nil || n < 1 || n > len(*a) {
			return name
		}
		return kept.add((*a)[n-1])
	})
	return renumbered, kept
}

// newListing chooses the index, and reads which classes the index has.
func newListing(ctx context.Context, r *session, q *storage.RunQuery) (*listing, error) {
	by, err := choose(ctx, r, q)
	if err != nil {
		return nil, err
	}
	l, find, args := listingOf(q, r.dialect, by, nil)
	if l.few || l.plain {
		return l, nil
	}
	l.classes, err = readable(ctx, r, func(row *classRow) (class, error) { return row.Class, nil }, find, args...)
	l.classes = slices.DeleteFunc(l.classes, func(c class) bool { return !l.selects(c) })
	return l, err
}

type classRow struct {
	unread

	Class class
}

// listingOf returns a listing that has no classes yet, and the query for the classes that its index has.
func listingOf(q *storage.RunQuery, d *dialect, by choice, until *storage.Run) (l *listing, find string, args []any) {
	l = &listing{q: q, dialect: d, by: by, until: until, table: `runs r`, index: `runs`, n: `r.n`}
	l.findFew(by)
	find, args = l.find(by)
	l.checkTerms(by)
	l.bound()
	if q.Limit > 0 {
		l.limit = ` LIMIT ` + l.args.add(q.Limit)
	}
	return l, find, args
}

// findFew sets the conditions for runs that are due, that need a person, or that have a rare text.
func (l *listing) findFew(by choice) {
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
	if by.few {
		l.where = append(l.where, `r.n IN (`+selectTerm(&l.args, by.term)+`)`)
	}
	l.few = len(l.where) > 0
	l.plain = !l.few && by.plain
	if !l.few && !l.plain {
		return
	}
	if q.Top {
		l.checkRun(`r.child = 0`)
	}
	if len(q.States) > 0 {
		l.checkRun(oneOf(&l.args, `r.state`, q.States))
	}
	if len(q.Outcomes) > 0 {
		l.checkRun(oneOf(&l.args, `r.outcome`, q.Outcomes))
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

// find sets the index with which the listing finds its runs. It uses the choice, or else the parent, the first label or
// the flow, in this order. The other conditions become checks. It returns the query for the classes that the index has
// for the chosen value.
func (l *listing) find(by choice) (find string, args []any) {
	q, chosen := l.q, l.few || by.values != nil
	find = selectClasses
	byLabel := func(key, value string) {
		k, v := l.args.add(key), l.args.add(value)
		if chosen {
			has := `EXISTS (SELECT 1 FROM labels WHERE run = ` + l.n + ` AND key = ` + k + ` AND value = ` + v + `)`
			l.checks = append(l.checks, check{has, joinsNone})
			return
		}
		chosen, l.table, l.index, l.n = true, `labels l`, `labels`, `l.run`
		l.where = append(l.where, `l.key = `+k+` AND l.value = `+v)
		find, args = selectClassesOfLabel, []any{key, value}
	}
	if by.values != nil {
		l.findValues(by)
	}
	if q.Parent != "" {
		byLabel(parentKey, q.Parent)
	}
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		byLabel(key, q.Labels[key])
	}
	if q.Flow != "" {
		is := `r.flow = ` + l.args.add(q.Flow)
		if chosen {
			l.checkSlowly(is)
		} else {
			l.where, l.index = append(l.where, is), `runs_flow`
			find, args = selectClassesOfFlow, []any{q.Flow}
		}
	}
	if len(q.Undos) > 0 && !by.undo {
		l.checkSlowly(oneOf(&l.args, `r.undone`, q.Undos))
	}
	return find, args
}

// checkRun adds conditions on a run's row.
func (l *listing) checkRun(conditions ...string) {
	for _, condition := range conditions {
		l.checks = append(l.checks, check{condition, joinsRun})
	}
}

// checkSlowly adds a condition on a run's row in a form for which PostgreSQL cannot use another index.
func (l *listing) checkSlowly(condition string) {
	l.checkRun(`CASE WHEN r.n IS NOT NULL THEN ` + condition + ` END`)
}

// selects reports whether the query selects runs of the class. The state of runs that have not ended is checked run by
// run.
func (l *listing) selects(c class) bool {
	q := l.q
	state := func(s states.Flow) bool { return s == c.state() || c.open() && !s.Ended() }
	return (len(q.States) == 0 || slices.ContainsFunc(q.States, state)) &&
		(len(q.Outcomes) == 0 || slices.Contains(q.Outcomes, c.outcome())) && (!q.Top || !c.child()) &&
		!slices.ContainsFunc(q.Terms, func(t storage.RunTerm) bool { return anyParent(&t) && t.Not == c.child() })
}

// bound adds the conditions on times, and the condition that the listing continues after a place.
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
		l.checkRun(l.within(`r.created`, q.CreatedFrom, q.CreatedTo)...)
	}
	if at != `.ended` {
		l.checkRun(l.within(`r.ended`, q.EndedFrom, q.EndedTo)...)
	}
	l.always = slices.Clone(l.where)
	if q.After != nil {
		// If a place and a bound are on the same side, only the narrower one is a condition. With both, SQLite may seek
		// by the other.
		last := place(q.After)
		switch {
		case l.rises() && last.UnixMicro() < from.UnixMicro(),
			!l.rises() && !to.IsZero() && last.UnixMicro() >= to.UnixMicro():
		case l.rises():
			from = time.Time{}
			l.where = append(l.where, l.beyond(` > `, last, q.After.Number))
		default:
			to = time.Time{}
			l.where = append(l.where, l.beyond(` < `, last, q.After.Number))
		}
	}
	if l.until != nil { // until is within the bounds of the query
		if l.rises() {
			to = time.Time{}
			l.where = append(l.where, l.beyond(` <= `, place(l.until), l.until.Number))
		} else {
			from = time.Time{}
			l.where = append(l.where, l.beyond(` >= `, place(l.until), l.until.Number))
		}
	}
	l.where = append(l.where, l.within(l.at, from, to)...)
}

// beyond returns the condition that a run comes before or after a place.
func (l *listing) beyond(than string, last time.Time, number int64) string {
	at, n := l.args.add(last.UnixMicro()), l.args.add(number)
	return `(` + l.at + `, ` + l.n + `)` + than + `(` + at + `, ` + n + `)`
}

// within returns the conditions that a time is in a range.
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
func (l *listing) empty() bool {
	return !l.few && (!l.plain && len(l.classes) == 0 || l.values != nil && len(l.values) == 0)
}
