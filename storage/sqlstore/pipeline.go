package sqlstore

import (
	"errors"
	"fmt"
	"strings"
)

// Where many writes share a transaction on a server, most of what is sent are the
// same few statements, each about another run. They are sent as one, with an array
// for each argument: so the server plans and runs one statement. Only statements
// are put together whose order among others does not matter: the guards of
// checkpoints, as a run has one in a transaction and nothing else there reads what
// they write, and rows that are new.

// A form is a statement about many rows at once, as PostgreSQL spells it.
type form struct {
	text  string
	sure  string // the same, which fails when it is not about as many rows as its last argument says
	types []string
	last  bool // sent in the place of the last of them, not of the first
}

// forms are the statements that can be put together. An update hides what it asks of the row
// alone behind what finds the row: else PostgreSQL, where it takes such rows for rare, looks
// for them in the whole table, and for each of them through all that was sent.
var forms = map[string]*form{
	guardRun:       rowsForm(countRows, countTypes+claimedTypes+countedTypes, claimedRows+countedRows),
	turnRun:        rowsForm(countRows+turnRows, countTypes+turnTypes+claimedTypes+countedTypes, claimedRows+countedRows),
	leaveRun:       rowsForm(countRows+turnRows+dropRows, countTypes+turnTypes+dropTypes+claimedTypes+countedTypes, claimedRows+countedRows),
	beginRow:       rowsForm(countRows+turnRows+takeRows, countTypes+turnTypes+takeTypes+freeTypes+countedTypes, freeRows+countedRows),
	insertNumbered: rowsForm(insertOriginRows, originTypes, ` ON CONFLICT (id) DO NOTHING`),
	insertRun:      rowsForm(insertRunRows, runTypes, ``),
	insertHistory:  rowsForm(insertHistoryRows, historyTypes, ``),
	claimJob:       rowsForm(claimRows, claimTypes, ` WHERE jobs.n = v.n`),
	bindToRun:      rowsForm(bindRows, bindTypes, boundRows),
	endWithRun:     rowsForm(endRows, endTypes, endedRows).after(),
	finishJob:      rowsForm(finishRows, finishTypes, finishedRows),
}

// rowsForm makes a form of a statement whose rows, v, stand between its two parts. The columns
// are the arguments of the statement about one row, each with its type, in their order.
func rowsForm(change, columns, which string) *form {
	var types, names, arrays []string
	for i, column := range strings.Split(columns, ",") {
		name, of, _ := strings.Cut(strings.TrimSpace(column), " ")
		types, names, arrays = append(types, of), append(names, name), append(arrays, fmt.Sprintf("$%d::%s[]", i+1, of))
	}
	text := change + " FROM unnest(" + strings.Join(arrays, ", ") + ") AS v (" + strings.Join(names, ", ") + ")" + which
	return &form{
		text: text, types: types,
		// It fails by a division by zero, as SQL has no other way to say so.
		sure: fmt.Sprintf("WITH done AS (%s RETURNING 1) SELECT 1 / CAST(count(*) = $%d AS INT) FROM done", text, len(types)+1),
	}
}

// after lets what a form is about be made ready by other statements that are put
// together: a run that is made and ends in one checkpoint takes its job and ends it.
func (f *form) after() *form {
	f.last = true
	return f
}

// args returns the arguments of many statements, an array for each.
func (f *form) args(all []queued) []any {
	out := make([]any, len(f.types))
	for i, t := range f.types {
		out[i] = column{all: all, i: i, of: columnTypes[t]}
	}
	return out
}

// errPart is of many rows that were sent together, some of which were not written.
var errPart = errors.New("sqlstore: not all of several rows were written")

// pipeline puts those of the same form together, in one place. With sure
// those that have a check fail on the server when it would, alone as well.
// Those of a lone write that have a check stay apart, as its error says which failed.
func pipeline(all []queued, sure, many bool) []queued {
	groups := map[*form][]queued{}
	for _, p := range all {
		if f := forms[p.query]; f != nil && (many || p.check == nil) {
			groups[f] = append(groups[f], p)
		}
	}
	out := make([]queued, 0, len(all))
	met := map[*form]int{}
	for _, p := range all {
		f := forms[p.query]
		if f != nil && !many && p.check != nil {
			groups[f] = []queued{p}
		}
		group := groups[f]
		ensured := sure && p.check != nil
		switch {
		case f == nil || len(group) == 1 && !ensured:
			out = append(out, p)
			continue
		case len(group) == 0: // it was sent with the first
			continue
		case f.last && met[f] < len(group)-1:
			met[f]++
			continue
		case len(group) > 1 && p.check != nil:
			p.check = partly(len(group))
		}
		p.query, p.spelt, p.args = f.text, true, f.args(group)
		if ensured {
			p.query, p.args = f.sure, append(p.args, len(group))
		}
		groups[f] = nil
		out = append(out, p)
	}
	return out
}

// partly returns the check of so many rows that were sent together.
func partly(n int) func(int64) error {
	return func(rows int64) error {
		if rows != int64(n) {
			return errPart
		}
		return nil
	}
}
