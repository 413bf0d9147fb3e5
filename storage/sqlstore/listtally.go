package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Tally implements [storage.Reader.Tally].
func (s *store) Tally(ctx context.Context, q storage.RunQuery, t backend.TallyQuery) (
	counted backend.Tally, err error,
) {
	q.Limit = 0
	counted.Counts = map[backend.TallyKey]int{}
	err = s.listing(ctx, &q, func(r *session) error {
		if err := onlyIndexes(ctx, r); err != nil {
			return err
		}
		l, err := newListing(ctx, r, &q)
		if err != nil || l.empty() {
			return err
		}
		if !l.few {
			if counted.Last, err = l.reachTime(ctx, r, max(t.Most, 1)); err != nil {
				return err
			}
			l = l.to(counted.Last)
		}
		return l.tally(ctx, r, &t, counted.Counts)
	})
	return counted, err
}

// reachTime returns a place in the listing that comes after about the given number of runs. It returns nil if there are
// fewer runs. Unlike [listing.reach], it does not merge the parts of the index, because merging takes longer than
// counting. All runs with the time of the place come before the place.
func (l *listing) reachTime(ctx context.Context, r *session, runs int) (*storage.Run, error) {
	skip := l.args.add(max(runs/l.parts(), 1) - 1)
	var parts []string
	for conditions := range l.stretches() {
		parts = append(parts, `SELECT at FROM (`+l.part(l.at+` AS at`, conditions, nil)+l.order(l.at, l.n)+
			` LIMIT 1 OFFSET `+skip+`) AS part`+strconv.Itoa(len(parts)))
	}
	first, number := `max`, int64(0)
	if l.rises() {
		first, number = `min`, math.MaxInt64
	}
	var at []moment
	query, args := l.args.usedBy(`SELECT ` + first + `(at) AS at FROM (` + strings.Join(parts, "\n  UNION ALL ") +
		`) AS parts`)
	err := corrupt(r.Once(ctx, &at, query, args...))
	if r.dialect.damage.leftOut(err) {
		return nil, nil //nolint:nilnil // the list is read without the place
	}
	if err != nil || len(at) == 0 || !at[0].Valid {
		return nil, err
	}
	return l.placeAt(at[0].time(), number), nil
}

// placeAt returns the place of a run with a number and a time. The time is the one that orders the listing.
func (l *listing) placeAt(at time.Time, number int64) *storage.Run {
	place := &storage.Run{Number: number}
	switch {
	case !l.q.Due.IsZero():
		place.Due = at
	case l.q.Order == storage.ByEnded:
		place.Ended = at
	default:
		place.Created = at
	}
	return place
}

// span returns the range of times of the listing's runs, from lo to below hi. ok is false if a place divides the runs
// of one time, because a range cannot express that. [listing.reachTime] makes no such place.
func (l *listing) span() (lo, hi int64, ok bool) {
	const ever = math.MaxInt64 / 2
	from, to := l.q.CreatedFrom, l.q.CreatedTo
	if l.q.Order == storage.ByEnded {
		from, to = l.q.EndedFrom, l.q.EndedTo
	}
	lo, hi = -ever, ever
	if !from.IsZero() {
		lo = from.UnixMicro()
	}
	if !to.IsZero() {
		hi = to.UnixMicro()
	}
	for _, place := range []*storage.Run{l.q.After, l.until} {
		if place == nil {
			continue
		}
		at := place.Created
		if l.q.Order == storage.ByEnded {
			at = place.Ended
		}
		beyond := at.UnixMicro()
		whole := int64(0)
		if l.rises() {
			beyond++
			whole = math.MaxInt64
		}
		if place.Number != whole {
			return 0, 0, false
		}
		if l.rises() == (place == l.until) {
			hi = min(hi, beyond)
		} else {
			lo = max(lo, beyond)
		}
	}
	return lo, hi, true
}

// A tallyQuery is the statement that counts the runs of a listing. For each stretch of the index, it selects the
// columns state, span and runs.
type tallyQuery struct {
	*listing

	width int64    // length of a span in microseconds; 0 if there are no spans
	since int64    // number of the first span; runs before it count as span -1
	spans []string // tables of WITH: the spans of a stretch that have runs
	parts []string
}

// tally counts the runs of the listing. For each part of the index, the query returns few rows.
func (l *listing) tally(ctx context.Context, r *session, t *backend.TallyQuery, counts map[backend.TallyKey]int) error {
	q := tallyQuery{listing: l, width: t.Width.Microseconds()}
	if q.width > 0 && !t.Since.IsZero() {
		q.since = t.Since.UnixMicro() / q.width
	}
	lo, hi, whole := l.span()
	for conditions, c := range l.stretches() {
		if whole && q.width > 0 && c != nil && !c.open() {
			q.search(c, conditions, lo, hi)
		} else {
			q.group(c, conditions)
		}
	}
	query := strings.Join(q.parts, "\n  UNION ALL ")
	if len(q.spans) > 0 {
		query = `WITH RECURSIVE ` + strings.Join(q.spans, ",\n  ") + "\n" + query
	}
	query, args := l.args.usedBy(query)
	return r.EachOnce(ctx, query, args, func(found *sqlx.Rows) (bool, error) {
		var row tallyRow
		if err := scanRow(found, &row); err != nil {
			return false, err
		}
		if r.dialect.damage.leftOut(row.damage) {
			return true, nil
		}
		if row.Runs > 0 {
			counts[backend.TallyKey{State: states.Flow(row.State), Span: row.Span}] += row.Runs
		}
		return true, nil
	})
}

type tallyRow struct {
	unread

	State uint8
	Span  int64
	Runs  int
}

// group counts the runs of a stretch by reading all of them.
func (q *tallyQuery) group(c *class, conditions []string) {
	span, by, checks := `0`, []string(nil), q.checks
	if q.width > 0 {
		span = q.spanOf()
		by = append(by, span)
	}
	state := `r.state`
	if c != nil && !c.open() { // the class contains the state
		state = strconv.Itoa(int(c.state()))
	} else { // the part reads the run's row
		ofRun := check{joins: joinsRun}
		if open := slices.DeleteFunc(slices.Clone(q.q.States), states.Flow.Ended); c != nil && len(open) > 0 {
			ofRun.sql = oneOf(&q.args, state, open)
		}
		checks, by = append(slices.Clone(checks), ofRun), append(by, state)
	}
	part := q.part(state+` AS state, `+span+` AS span, count(*) AS runs`, conditions, checks)
	if len(by) > 0 {
		part += ` GROUP BY ` + strings.Join(by, `, `)
	}
	q.parts = append(q.parts, part)
}

// spanOf returns the span of the time by which the listing is ordered.
func (q *tallyQuery) spanOf() string {
	if q.since == 0 {
		return fmt.Sprintf(`%s / %d`, q.at, q.width)
	}
	return fmt.Sprintf(`CASE WHEN %[1]s < %[2]d THEN -1 ELSE %[1]s / %[3]d END`, q.at, q.since*q.width, q.width)
}

// search counts the runs of a stretch that ended in the times from lo to below hi. WITH finds the spans that have runs,
// the last one first, and the query counts each span with one search of the index. GROUP BY would sort all runs.
func (q *tallyQuery) search(c *class, conditions []string, lo, hi int64) {
	name, first := fmt.Sprintf(`spans%d`, len(q.spans)), q.since*q.width
	conditions = slices.Concat(q.always, conditions)
	from, to := q.args.add(max(lo, first)), q.args.add(hi)
	newestBefore := func(end string) string {
		return q.partOf(`max(`+q.at+`)`, slices.Concat(conditions, q.between(from, end)), nil)
	}
	begin, end := fmt.Sprintf(`(s.x * %d)`, q.width), fmt.Sprintf(`(s.x * %[1]d) + %[1]d`, q.width)
	least, greatest := `min`, `max`
	if q.dialect.locks {
		least, greatest = `least`, `greatest`
	}
	within := q.between(greatest+`(`+begin+`, `+from+`)`, least+`(`+end+`, `+to+`)`)
	q.spans = append(q.spans, fmt.Sprintf(
		`%[1]s (x) AS (SELECT (%[2]s) / %[4]d UNION ALL SELECT (%[3]s) / %[4]d FROM %[1]s s WHERE s.x IS NOT NULL)`,
		name, newestBefore(to), newestBefore(begin), q.width))
	q.parts = append(q.parts, fmt.Sprintf(
		`SELECT %d AS state, s.x AS span, (%s) AS runs FROM %s s WHERE s.x IS NOT NULL`,
		c.state(), q.partOf(`count(*)`, slices.Concat(conditions, within), q.checks), name))
	if lo < first {
		before := q.between(q.args.add(lo), q.args.add(min(hi, first)))
		q.parts = append(q.parts, q.partOf(fmt.Sprintf(`%d AS state, -1 AS span, count(*) AS runs`, c.state()),
			slices.Concat(conditions, before), q.checks))
	}
}

// between returns the conditions that a time is in a range.
func (l *listing) between(from, to string) []string {
	return []string{l.at + ` >= ` + from, l.at + ` < ` + to}
}
