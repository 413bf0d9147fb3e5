package sqlstore

import (
	"context"
	"strconv"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A class is what lists of runs select most: the state of a run that has ended, the outcome, and whether another run
// started the run. The schema computes the class of a run with the same numbers. Indexes contain it before the time,
// so that a list reads only runs of the classes that it selects.
type class uint8

const (
	classPerState   = 16 // of a run that has not ended, the class contains the state 0
	classPerOutcome = 2
	classOfOpen     = 2 * classPerState // the classes below are those of runs that have not ended
)

// openClasses is classOfOpen as statements spell it.
var openClasses = strconv.Itoa(classOfOpen)

func classOf(state states.Flow, outcome storage.Outcome, child bool) class {
	c := class(outcome) * classPerOutcome
	if state.Ended() {
		c += class(state) * classPerState
	}
	if child {
		c++
	}
	return c
}

// class returns the class of a run that no other run started.
func (e *ending) class() class {
	return classOf(states.Flow(e.state), storage.Outcome(e.outcome), false)
}

func (c class) open() bool               { return c < classOfOpen }
func (c class) state() states.Flow       { return states.Flow(c / classPerState) }
func (c class) outcome() storage.Outcome { return storage.Outcome(c % classPerState / classPerOutcome) }
func (c class) child() bool              { return c%classPerOutcome == 1 }

// movesFrom reports whether the run's place in lists differs from its place before.
func (e *ending) movesFrom(before *ending) bool {
	return e.class() != before.class() || micros(e.ended) != micros(before.ended)
}

// moveLabels writes the place of the run in lists beside its labels.
func (e *ending) moveLabels(ctx context.Context, w *session, n int64) error {
	return w.Post(ctx, nil, moveLabels[w.dialect.db], e.class(), micros(e.ended), n)
}

// moveLabels writes the class and the end of a run beside its labels.
var moveLabels = statement{
	onSQLite: `UPDATE labels SET class = ? + class % 2, ended = ? WHERE run = ?`,
	onPostgres: `UPDATE labels SET class = v.class + labels.class % 2, ended = v.ended
FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS v (class, ended, n) WHERE labels.run = v.n`,
}
