package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"

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
			if counted.Last, err = l.reach(ctx, r, max(t.Most, 1)); err != nil {
				return err
			}
			l = l.to(counted.Last)
		}
		return l.tally(ctx, r, t, counted.Counts)
	})
	return counted, err
}

// tally counts the runs of the listing. What it counts in one part of the index stays few rows.
func (l *listing) tally(ctx context.Context, r *session, t storage.Tallying, counts map[storage.TallyKey]int) error {
	span := `0`
	if width := t.Width.Microseconds(); width > 0 {
		span = l.at + ` / ` + strconv.FormatInt(width, 10)
	}
	// The class says what the state of a run that has ended is.
	open := slices.DeleteFunc(slices.Clone(l.q.States), states.Flow.Ended)
	var parts []string
	for conditions, c := range l.stretches() {
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
	query, args := l.args.of(strings.Join(parts, "\n  UNION ALL "))
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
