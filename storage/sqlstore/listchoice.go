package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/storage"
)

// A choice says by which text or undo state a listing finds its runs. The zero choice leaves that to [listing.find].
type choice struct {
	term   *storage.RunTerm
	undo   bool     // find runs by RunQuery.Undos; term is nil
	values []string // values to look up in the index, one by one; nil: do not use an index of values
	few    bool     // few runs meet the term
	plain  bool     // the index is not divided into classes
}

const (
	// maxValues is the maximum number of values that a listing looks up one by one.
	maxValues = 16
	// maxKnown is the maximum number of values that the store reads to find those that match.
	maxKnown = 64

	defaultFew = 5000
)

// maxFew is the maximum number of runs that a listing reads and sorts. Tests lower it.
var maxFew = defaultFew

// choose decides how a listing finds its runs. It prefers a text that few runs have. Otherwise it chooses an index of a
// text that is in the order of the listing. It reads a bounded number of rows.
func choose(ctx context.Context, r *session, q *storage.RunQuery) (choice, error) {
	exact := exactTerms(q)
	if !q.Due.IsZero() || q.Stuck || len(q.Terms) == 0 && len(q.Undos) == 0 && len(exact) < 2 {
		return choice{}, nil
	}
	var dense []*storage.RunTerm
	for i := range q.Terms {
		if t := &q.Terms[i]; !t.Not && !anyParent(t) {
			exact = append(exact, t)
		}
	}
	for _, t := range exact {
		runs, err := runsWith(ctx, r, t, maxFew+1)
		switch {
		case err != nil:
			return choice{}, err
		case runs == 0:
			return choice{values: []string{}, term: t}, nil
		case runs <= maxFew && (t.Of == storage.TextID || len(exact) > 1 || runs <= maxFew/10):
			return choice{term: t, few: true}, nil
		}
		dense = append(dense, t)
	}
	return chooseIndex(ctx, r, q, dense)
}

// exactTerms returns the conditions of the query that require one exact text.
func exactTerms(q *storage.RunQuery) (terms []*storage.RunTerm) {
	if q.Parent != "" {
		terms = append(terms, &storage.RunTerm{Of: storage.TextParent, Is: []string{q.Parent}})
	}
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		terms = append(terms, &storage.RunTerm{Of: storage.TextLabel, Key: key, Is: []string{q.Labels[key]}})
	}
	if q.Flow != "" {
		terms = append(terms, &storage.RunTerm{Of: storage.TextFlow, Is: []string{q.Flow}})
	}
	return terms
}

// runsWith counts the runs that meet a term, up to most.
func runsWith(ctx context.Context, r *session, t *storage.RunTerm, most int) (int, error) {
	var args arguments
	var found []int
	query := `SELECT count(*) FROM (` + selectTerm(&args, t) + ` LIMIT ` + args.add(most) + `) AS found`
	if err := r.Once(ctx, &found, query, args...); err != nil {
		return 0, err
	}
	return found[0], nil
}

// chooseIndex chooses the index of a text that many runs have.
func chooseIndex(ctx context.Context, r *session, q *storage.RunQuery, dense []*storage.RunTerm) (choice, error) {
	if q.Parent != "" || len(q.Labels) > 0 {
		return choice{}, nil
	}
	undos := choice{undo: true, values: []string{}}
	for undo := storage.UndoneAll; undo <= storage.UndoFailed; undo++ {
		if slices.Contains(q.Undos, undo) {
			undos.values = append(undos.values, strconv.Itoa(int(undo)))
		}
	}
	if len(q.Undos) > 0 && !slices.Contains(q.Undos, storage.UndoNone) {
		return undos, nil
	}
	for i := range q.Terms {
		if t := &q.Terms[i]; t.Not && t.Of == storage.TextFlow {
			dense = append(dense, t)
		}
	}
	for _, of := range []storage.RunText{
		storage.TextParent, storage.TextLabel, storage.TextCode, storage.TextFlow, storage.TextDefinition,
	} {
		for _, t := range dense {
			plain := of == storage.TextDefinition
			byClass := q.Order == storage.ByEnded || q.Flow != "" || q.Top || len(q.States)+len(q.Outcomes) > 0
			if t.Of != of || plain && byClass {
				continue
			}
			if of == storage.TextFlow && q.Flow != "" {
				return choice{}, nil
			}
			if values, err := valuesOf(ctx, r, t); err != nil || values != nil {
				return choice{term: t, values: values, plain: plain}, err
			}
		}
	}
	return choice{}, nil
}

// valuesOf returns the values of a text that fulfill the term and that runs have, or may have. It returns nil if there
// are more than maxValues.
func valuesOf(ctx context.Context, r *session, t *storage.RunTerm) ([]string, error) {
	if !t.Not && len(t.Begins) == 0 {
		values := slices.Compact(slices.Sorted(slices.Values(t.Is)))
		if len(values) > maxValues {
			return nil, nil
		}
		return values, nil
	}
	var args arguments
	of := columnOf(&args, t)
	from, to := ``, ``
	if !t.Not && len(t.Is) == 0 && len(t.Begins) == 1 {
		from, to = of.from(&args, t.Begins[0])
	}
	least, first := `(SELECT `+of.column+` FROM `+of.table+` WHERE `+of.has+to, ` ORDER BY `+of.column+` LIMIT 1)`
	var rows []struct{ Value []byte }
	err := r.Once(ctx, &rows, `WITH RECURSIVE present (value) AS (SELECT `+least+from+first+`
  UNION ALL SELECT `+least+` AND `+of.column+` > present.value`+first+` FROM present WHERE present.value IS NOT NULL)
SELECT value FROM present WHERE value IS NOT NULL LIMIT `+args.add(maxKnown+1), args...)
	if err != nil || len(rows) > maxKnown {
		return nil, err
	}
	values := []string{}
	for _, row := range rows {
		if t.Not != matches(t, string(row.Value)) {
			values = append(values, string(row.Value))
		}
	}
	if len(values) > maxValues {
		return nil, nil
	}
	return values, nil
}

// findValues sets the index and the conditions with which the listing finds runs by the chosen values.
func (l *listing) findValues(by choice) {
	l.values = []string{}
	column, value := `r.undone`, func(value string) any { n, _ := strconv.Atoi(value); return n }
	if by.undo {
		l.index, l.where = `runs_undone`, append(l.where, `r.undone > 0`)
	} else {
		t := by.term
		of := columnOf(&l.args, t)
		column, value = of.row+of.column, of.value
		l.where = append(l.where, of.is)
		l.index, l.n = of.index, `r.n`
		switch of.row {
		case `l.`:
			l.table, l.n = `labels l`, `l.run`
		case `o.`:
			l.table, l.n = `origins o`, `o.n`
		}
	}
	for _, one := range by.values {
		l.values = append(l.values, column+` = `+l.args.add(value(one)))
	}
}
