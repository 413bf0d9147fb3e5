package sqlstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Where many writes share a transaction on a server, most of what is sent are the
// same few statements, each about another run. They are sent as one, with an array
// for each argument: so the server plans and runs one statement. Only statements
// are put together whose order among others does not matter: the guards of
// checkpoints, as a run has one in a transaction and nothing else there reads what
// they write, and rows that are new.

// A form is a statement about many rows at once.
type form struct {
	text  string // as PostgreSQL spells it
	sure  string // the same, which fails when it is not about as many rows as its last argument says
	types []string
	last  bool // sent in the place of the last of them, not of the first
}

// What the arguments of the statements are, in their order.
const (
	countTypes     = "bigint,bigint,bigint,bigint,bigint,bigint,bigint,bigint,bytea,bytea"
	turnTypes      = ",smallint,smallint,smallint,boolean,bigint,bigint,bigint,bytea,bytea"
	dropOwnerTypes = ",bigint,bigint,bigint"
	takeTypes      = ",bigint,text,text,bigint"
	claimedTypes   = ",bigint,bigint,text,bigint"
	freeTypes      = ",bigint,bigint,bigint,bigint"
	countedTypes   = ",bigint,bigint,bigint,bigint,bigint,bigint"
	originTypes    = "bigint,text,text,text,text,text,text,bigint,text,text,bigint,bigint,bytea,bytea,bytea"
	runTypes       = "bigint,bigint," + countTypes + turnTypes + takeTypes
	historyTypes   = "bigint,bigint,bytea"
	claimTypes     = "text,text,bigint,bigint"
	bindTypes      = "text,text"
	endTypes       = "smallint,bigint,bytea,bigint,text,text"
	finishTypes    = "smallint,bigint,bytea,bigint,text,bigint,text"
)

// forms are the statements that can be put together.
var forms = map[string]*form{
	guardRun:       updateForm(guardRun, countTypes+claimedTypes+countedTypes),
	turnRun:        updateForm(turnRun, countTypes+turnTypes+claimedTypes+countedTypes),
	leaveRun:       updateForm(leaveRun, countTypes+turnTypes+dropOwnerTypes+claimedTypes+countedTypes),
	beginRow:       updateForm(beginRow, countTypes+turnTypes+takeTypes+freeTypes+countedTypes),
	insertNumbered: insertForm(insertNumbered, originTypes),
	insertRun:      insertForm(insertRun, runTypes),
	insertHistory:  insertForm(insertHistory, historyTypes),
	claimJob:       updateForm(claimJob, claimTypes),
	bindToRun:      updateForm(bindToRun, bindTypes),
	endWithRun:     updateForm(endWithRun, endTypes).after(),
	finishJob:      updateForm(finishJob, finishTypes),
}

// updateForm makes a form of UPDATE … WHERE ….
func updateForm(query, types string) *form {
	f := &form{types: strings.Split(types, ",")}
	set, where, _ := strings.Cut(f.columns(query), "WHERE ")
	f.text = set + " FROM " + f.rows() + " WHERE " + joined(where)
	return f.ensured()
}

// joined returns the conditions of an update, of which the first finds the row, with
// those that are about the row alone hidden behind that: else PostgreSQL, where it
// takes such rows for rare, looks for them in the whole table, and for each of them
// through all that was sent.
func joined(where string) string {
	all := strings.Split(where, " AND ")
	for i, condition := range all {
		if !strings.Contains(condition, "v.c") {
			all[i] = "CASE WHEN " + all[0] + " THEN " + condition + " END"
		}
	}
	return strings.Join(all, " AND ")
}

// after lets what a form is about be made ready by other statements that are put
// together: a run that is made and ends in one checkpoint takes its job and ends it.
func (f *form) after() *form {
	f.last = true
	return f
}

// insertForm makes a form of INSERT … VALUES (…) ….
func insertForm(query, types string) *form {
	f := &form{types: strings.Split(types, ",")}
	into, values, _ := strings.Cut(f.columns(query), "VALUES (")
	values, rest, _ := strings.Cut(values, ")")
	f.text = into + "SELECT " + values + " FROM " + f.rows() + rest
	return f.ensured()
}

// ensured makes the form that fails: by a division by zero, as SQL has no other way
// to say so.
func (f *form) ensured() *form {
	f.sure = fmt.Sprintf("WITH done AS (%s RETURNING 1) SELECT 1 / CAST(count(*) = $%d AS INT) FROM done", f.text, len(f.types)+1)
	return f
}

// columns puts the columns of the arrays in the places of the arguments.
func (f *form) columns(query string) string {
	var b strings.Builder
	n := 0
	for before, after, found := strings.Cut(query, "?"); ; before, after, found = strings.Cut(after, "?") {
		b.WriteString(before)
		if !found {
			break
		}
		n++
		b.WriteString("v.c" + strconv.Itoa(n))
	}
	if n != len(f.types) {
		panic(fmt.Sprintf("sqlstore: %d types for the %d arguments of %s", len(f.types), n, query))
	}
	return b.String()
}

// rows are the arrays as rows.
func (f *form) rows() string {
	arrays, names := make([]string, len(f.types)), make([]string, len(f.types))
	for i, t := range f.types {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, t)
		names[i] = "c" + strconv.Itoa(i+1)
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS v (" + strings.Join(names, ", ") + ")"
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
