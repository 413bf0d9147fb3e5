package sqlstore

import "context"

// jobsDue makes scheduled jobs claimable when their time has come; jobsAbandoned does so for jobs whose lease has
// expired. For SQLite the argument is the current time.
var (
	jobsDue = statement{
		onSQLite: `UPDATE jobs SET state = ` + jobUnclaimed + ` WHERE state = ` + jobScheduled +
			` AND (not_until IS NULL OR not_until <= ?)`,
		onPostgres: `UPDATE jobs SET state = ` + jobUnclaimed + ` WHERE state = ` + jobScheduled +
			` AND (not_until IS NULL OR not_until <= ` + serverNow + `)`,
	}
	jobsAbandoned = statement{
		onSQLite:   setUnclaimed + ` WHERE state = ` + jobClaimed + ` AND lease < ?`,
		onPostgres: setUnclaimed + ` WHERE state = ` + jobClaimed + ` AND lease < ` + serverNow,
	}
)

const setUnclaimed = `UPDATE jobs SET state = ` + jobUnclaimed + `, claim = '', owner = '', lease = NULL`

// unclaim makes jobs claimable whose lease has expired or whose time has come, once in a transaction.
func unclaim(ctx context.Context, w *session) error {
	if w.freed { // another claim shares the transaction
		return nil
	}
	w.freed = true
	before := w.Changed
	for _, free := range [...]statement{jobsDue, jobsAbandoned} {
		if err := w.Post(ctx, nil, free[w.dialect.db], w.dialect.untilNow()...); err != nil {
			return err
		}
	}
	if w.dialect.Posts {
		w.Changed = before // do not count these rows: usually none changes
	}
	return nil
}
