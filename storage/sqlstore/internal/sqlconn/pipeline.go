package sqlconn

import (
	"errors"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
)

// Where many writes share a transaction on a server, most statements are the same few, each for another run. Conn
// merges statements with the same text into one statement for many rows, with an array for each argument. The server
// then plans and runs only one. This is done only for statements whose order among others does not matter. These are
// inserts of new rows, and the guards of checkpoints: a run has one guard in a transaction, and no other statement
// there reads what it writes.

// A Form is a PostgreSQL statement that writes many rows and whose arguments are arrays.
type Form struct {
	Sure string // the statement in a form that fails if it changes fewer rows than its arrays have elements
	Last bool   // send the merged statement in the position of its last part, not of the first
}

// Surely returns the statement in a form that fails unless it changes a row for each element of its first argument.
// It fails by a division by zero, because SQL has no other way to fail.
func Surely(text string) string {
	return "WITH done AS (" + text + " RETURNING 1) SELECT 1 / CAST(count(*) = cardinality($1) AS INT) FROM done"
}

// asRows returns the statement with arrays of one element as arguments, if it takes arrays.
func (d *Dialect) asRows(p *queued) queued {
	out := *p
	if _, takes := d.Forms[p.query]; takes {
		out.args = arrays.Columns([][]any{p.args})
	}
	return out
}

// errPart means that a statement for many rows changed fewer rows than it should.
var errPart = errors.New("sqlstore: a statement wrote only some of its rows")

// pipeline merges statements with the same text that take arrays. If sure is true, merged statements that have a
// check fail on the server if the check would fail. If the transaction has only one write, statements with a check
// are not merged, because their error tells which one failed.
func (d *Dialect) pipeline(all []queued, sure, many bool) []queued {
	groups := map[string][][]any{}
	joins := func(p *queued) bool { return many || p.check == nil }
	for i := range all {
		if _, takes := d.Forms[all[i].query]; takes && joins(&all[i]) {
			groups[all[i].query] = append(groups[all[i].query], all[i].args)
		}
	}
	out := make([]queued, 0, len(all))
	met := map[string]int{}
	for _, p := range all {
		f, takes := d.Forms[p.query]
		if !takes {
			out = append(out, p)
			continue
		}
		rows := [][]any{p.args}
		if joins(&p) {
			rows = groups[p.query]
			place := 1
			if f.Last {
				place = len(rows)
			}
			if met[p.query]++; met[p.query] != place {
				continue
			}
		}
		if len(rows) > 1 && p.check != nil {
			p.check = partly(len(rows))
		}
		if sure && p.check != nil {
			p.query = f.Sure
		}
		p.args = arrays.Columns(rows)
		out = append(out, p)
	}
	return out
}

// partly returns the check of n statements that were sent as one.
func partly(n int) func(int64) error {
	return func(rows int64) error {
		if rows != int64(n) {
			return errPart
		}
		return nil
	}
}
