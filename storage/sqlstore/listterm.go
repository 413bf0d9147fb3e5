package sqlstore

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/storage"
)

// A textColumn describes the column that contains the text of a term.
type textColumn struct {
	table, column string
	n             string // column with the run's number
	row           string // alias of the table's row in listings
	index         string // index by which a listing finds runs by the text, without the time in its name; "" if none
	has           string // condition that a row has the text
	is            string // the same condition with the alias
	bytes         bool   // the column has bytes, not text
}

// columnOf returns the column of a term. Arguments of its conditions are added to args.
func columnOf(args *arguments, t *storage.RunTerm) textColumn {
	switch t.Of {
	case storage.TextFlow:
		return textColumn{
			table: `runs`, column: `flow`, n: `n`, row: `r.`, index: `runs_flow`, has: `flow <> ''`, is: `r.flow <> ''`,
		}
	case storage.TextCode:
		return textColumn{
			table: `runs`, column: `code`, n: `n`, row: `r.`, index: `runs_code`, has: `code IS NOT NULL`,
			is: `r.code IS NOT NULL`, bytes: true,
		}
	case storage.TextDefinition:
		return textColumn{
			table: `origins`, column: `definition`, n: `n`, row: `o.`, index: `origins_definition`, has: `definition <> ''`,
			is: `o.definition <> ''`,
		}
	case storage.TextID:
		return textColumn{table: `origins`, column: `id`, n: `n`, row: `o.`, has: `id <> ''`, is: `o.id <> ''`}
	default: // the label of the parent is parentKey
		key := args.add(t.Key)
		return textColumn{
			table: `labels`, column: `value`, n: `run`, row: `l.`, index: `labels`, has: `key = ` + key, is: `l.key = ` + key,
		}
	}
}

// value returns the value of the column for a text.
func (c *textColumn) value(text string) any {
	if c.bytes {
		return []byte(text)
	}
	return text
}

// from returns two conditions on the column's text that together select the texts with a prefix: a lower and an upper
// bound.
func (c *textColumn) from(args *arguments, begin string) (from, to string) {
	from = ` AND ` + c.column + ` >= ` + args.add(c.value(begin))
	if end := after(begin); end != "" {
		to = ` AND ` + c.column + ` < ` + args.add(c.value(end))
	}
	return from, to
}

// match returns the condition that the column's text matches the term.
func (c *textColumn) match(args *arguments, t *storage.RunTerm) string {
	var one []string
	if len(t.Is) > 0 {
		values := make([]any, len(t.Is))
		for i, text := range t.Is {
			values[i] = c.value(text)
		}
		one = append(one, oneOf(args, c.column, values))
	}
	for _, begin := range t.Begins {
		from, to := c.from(args, begin)
		one = append(one, c.has+from+to)
	}
	if len(one) == 0 {
		return `1 = 0`
	}
	return `(` + strings.Join(one, ` OR `) + `)`
}

// selectTerm returns the query for the numbers of the runs whose text matches the term.
func selectTerm(args *arguments, t *storage.RunTerm) string {
	c := columnOf(args, t)
	return `SELECT ` + c.n + ` FROM ` + c.table + ` WHERE ` + c.has + ` AND ` + c.match(args, t)
}

// checkTerms adds the terms to the checks, except the one by which the listing finds its runs.
func (l *listing) checkTerms(by choice) {
	for i := range l.q.Terms {
		t := &l.q.Terms[i]
		if chosen := t == by.term; chosen || anyParent(t) && !l.few && !l.plain {
			continue
		}
		c, not := columnOf(&l.args, t), ``
		if t.Not {
			not = `NOT `
		}
		if c.row == `l.` {
			// In this form, PostgreSQL makes no join, and finds the label by its run and key, not by its value.
			l.checks = append(l.checks, check{not + `(SELECT count(*) FROM labels WHERE run = ` + l.n + ` AND ` + c.has +
				` AND CASE WHEN run IS NOT NULL THEN ` + c.match(&l.args, t) + ` END) > 0`, joinsNone})
			continue
		}
		c.column, c.has = c.row+c.column, c.is
		if condition := not + `(` + c.has + ` AND ` + c.match(&l.args, t) + `)`; c.row == `r.` {
			l.checkSlowly(condition)
		} else {
			l.checks = append(l.checks, check{condition, joinsOrigin})
		}
	}
}

// anyParent reports whether every run that another run started meets the term.
func anyParent(t *storage.RunTerm) bool {
	return t.Of == storage.TextParent && slices.Contains(t.Begins, "")
}

// matches reports whether a text matches the term.
func matches(t *storage.RunTerm, text string) bool {
	return slices.Contains(t.Is, text) ||
		slices.ContainsFunc(t.Begins, func(begin string) bool { return strings.HasPrefix(text, begin) })
}

// after returns the smallest text that is greater than all texts with a prefix; "" if there is none.
func after(begin string) string {
	for begin != "" {
		last, size := utf8.DecodeLastRuneInString(begin)
		begin = begin[:len(begin)-size]
		switch last {
		case utf8.MaxRune:
			continue
		case surrogates - 1:
			last = surrogatesEnd
		default:
			last++
		}
		return begin + string(last)
	}
	return ""
}

// The numbers from surrogates up to surrogatesEnd are not characters.
const surrogates, surrogatesEnd = 0xD800, 0xE000
