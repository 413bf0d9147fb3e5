package sqlstore

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Tally implements [storage.Reader.Tally].
func (s *Store) Tally(ctx context.Context, q storage.RunQuery, t storage.Tallying) (counted storage.Tally, err error) {
	q.Limit = 0
	counted.Counts = map[storage.TallyKey]int{}
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

// reachTime returns a place in the listing before which, together, the parts of the index have about that many runs;
// nil if they have fewer. Unlike [listing.reach] it merges no parts, which takes longer than to count them. All runs of
// the time of the place are before it.
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
	query, args := l.args.of(`SELECT ` + first + `(at) AS at FROM (` + strings.Join(parts, "\n  UNION ALL ") +
		`) AS parts`)
	if err := r.Once(ctx, &at, query, args...); err != nil || len(at) == 0 || !at[0].Valid {
		return nil, err
	}
	return l.placeAt(at[0].time(), number), nil
}

// placeAt returns the place of a run with this number whose time, by which the listing is ordered, is at.
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

// span returns the times, from lo up to hi, in which the listing has its runs. ok is false if that is not all that
// bounds them: a place divides the runs of one time, unless [listing.reachTime] made it.
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

// tally counts the runs of the listing. What it counts in one part of the index stays few rows.
func (l *listing) tally(ctx context.Context, r *session, t *storage.Tallying, counts map[storage.TallyKey]int) error {
	width, since := t.Width.Microseconds(), int64(0)
	span := `0`
	if width > 0 {
		span = l.at + ` / ` + strconv.FormatInt(width, 10)
		if !t.Since.IsZero() {
			since = t.Since.UnixMicro() / width
			span = `CASE WHEN ` + l.at + ` < ` + strconv.FormatInt(since*width, 10) + ` THEN -1 ELSE ` + span + ` END`
		}
	}
	// The class says what the state of a run that has ended is.
	open := slices.DeleteFunc(slices.Clone(l.q.States), states.Flow.Ended)
	var parts, spans []string
	lo, hi, whole := l.span()
	for conditions, c := range l.stretches() {
		if whole && width > 0 && c != nil && !c.open() {
			with, part := l.tallySpans(c, conditions, width, max(lo, since*width), hi, len(spans))
			spans, parts = append(spans, with), append(parts, part)
			if lo < since*width {
				conditions = slices.Concat(l.always, conditions, l.between(l.args.add(lo), l.args.add(min(hi, since*width))))
				parts = append(parts, l.partOf(c.columns(`-1`), conditions, l.checks))
			}
			continue
		}
		state, checks, by := `r.state`, l.checks, []string{}
		if span != `0` {
			by = append(by, span)
		}
		if c != nil && c.open() && len(open) > 0 {
			conditions = append(conditions, oneOf(&l.args, `r.state`, open))
		}
		if c != nil && !c.open() {
			state = strconv.Itoa(int(c.state()))
		} else { // the part reads the run's row
			checks, by = append(slices.Clone(checks), `r.state >= 0`), append(by, state)
		}
		grouped := ``
		if len(by) > 0 {
			grouped = ` GROUP BY ` + strings.Join(by, `, `)
		}
		parts = append(parts, l.part(state+` AS state, `+span+` AS span, count(*) AS runs`, conditions, checks)+grouped)
	}
	var rows []struct {
		State uint8
		Span  int64
		Runs  int
	}
	with := ``
	if len(spans) > 0 {
		with = `WITH RECURSIVE ` + strings.Join(spans, ",\n  ") + "\n"
	}
	query, args := l.args.of(with + strings.Join(parts, "\n  UNION ALL "))
	if err := r.Once(ctx, &rows, query, args...); err != nil {
		return err
	}
	for _, row := range rows {
		if row.Runs > 0 {
			counts[storage.TallyKey{State: states.Flow(row.State), Span: row.Span}] += row.Runs
		}
	}
	return nil
}

// columns are those of a tally of runs of the class, which have ended.
func (c class) columns(span string) string {
	return strconv.Itoa(int(c.state())) + ` AS state, ` + span + ` AS span, count(*) AS runs`
}

// between returns the conditions that a time is in the range.
func (l *listing) between(from, to string) []string {
	return []string{l.at + ` >= ` + from, l.at + ` < ` + to}
}

// tallySpans counts the runs of a stretch of the index in the spans of time from lo up to hi: part counts those of each
// of the spans that with finds, each with one search of the index. GROUP BY would sort all of the runs.
func (l *listing) tallySpans(c *class, conditions []string, width, lo, hi int64, number int) (with, part string) {
	name, w := `spans`+strconv.Itoa(number), strconv.FormatInt(width, 10)
	conditions = slices.Concat(l.always, conditions)
	from, to := l.args.add(lo), l.args.add(hi)
	last := func(to string) string {
		return `(` + l.partOf(`max(`+l.at+`)`, slices.Concat(conditions, l.between(from, to)), nil) + `) / ` + w
	}
	least, greatest := `min`, `max`
	if l.dialect == serverDialect {
		least, greatest = `least`, `greatest`
	}
	begin := `(s.x * ` + w + `)`
	with = name + ` (x) AS (SELECT ` + last(to) + ` UNION ALL SELECT ` + last(begin) + ` FROM ` + name +
		` s WHERE s.x IS NOT NULL)`
	within := l.between(greatest+`(`+begin+`, `+from+`)`, least+`(`+begin+` + `+w+`, `+to+`)`)
	runs := l.partOf(`count(*)`, slices.Concat(conditions, within), l.checks)
	return with, `SELECT ` + strconv.Itoa(int(c.state())) + ` AS state, s.x AS span, (` + runs + `) AS runs FROM ` + name +
		` s WHERE s.x IS NOT NULL`
}
