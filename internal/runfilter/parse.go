package runfilter

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a filter.
const (
	MaxText   = 4096 // bytes of the text
	maxTerms  = 50
	maxValues = 50 // of a term
)

// An Error is a problem in the text of a filter.
type Error struct {
	Column int    // character at which the problem begins, from 1
	Text   string // the problem, and how to fix it
}

// Error returns the place and the problem.
func (e *Error) Error() string { return fmt.Sprintf("filter:%d: %s", e.Column, e.Text) }

// Parse reads a filter. The error is an *[Error].
func Parse(text string) (Filter, error) {
	f, err := parse(text)
	if err != nil {
		return Filter{}, err
	}
	return f, nil
}

func parse(text string) (f Filter, err error) {
	switch {
	case len(text) > MaxText:
		return f, &Error{1, fmt.Sprintf("the filter has %d bytes: at most %d", len(text), MaxText)}
	case !utf8.ValidString(text):
		return f, &Error{1, "the filter is not UTF-8"}
	}
	if before, _, found := strings.Cut(text, "\x00"); found { // which no store keeps
		return f, &Error{utf8.RuneCountInString(before) + 1, "the filter has a character of value 0: leave it out"}
	}
	parts, err := split(text)
	if err != nil {
		return f, err
	}
	for _, part := range parts {
		if len(f.terms) == maxTerms {
			return f, &Error{part[0].column, fmt.Sprintf("the filter has more than %d terms", maxTerms)}
		}
		t, err := readTerm(part)
		if err != nil {
			return f, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// split returns the parts between spaces, and removes quotation marks.
func split(text string) (parts []lexeme, err error) {
	var part lexeme
	var opened, column int // opened is the column of the open quotation mark
	begun, escaped := false, false
	end := func() {
		if begun {
			parts, part, begun = append(parts, part), nil, false
		}
	}
	for _, r := range text {
		column++
		switch {
		case escaped:
			part, escaped = append(part, char{r, true, column}), false
		case opened > 0 && r == '\\':
			escaped = true
		case r == '"' && opened > 0:
			opened = 0
		case r == '"':
			part, opened, begun = append(part, char{nothing, true, column}), column, true
		case opened > 0:
			part = append(part, char{r, true, column})
		case unicode.IsSpace(r):
			end()
		default:
			part, begun = append(part, char{r, false, column}), true
		}
	}
	if opened > 0 {
		return nil, &Error{opened, `the quotation mark is not closed: write " at the end, and \" for one within`}
	}
	end()
	return parts, nil
}

// readTerm reads a term, such as -flow:trip,order.
func readTerm(part lexeme) (t term, err error) {
	column := part[0].column
	if t.not = part[0].is('-'); t.not {
		part = part[1:]
	}
	name, rest, found := part.cut(':')
	if !found {
		if name, rest = nil, beginning(part); rest.String() == "" {
			return t, &Error{column, "a term is empty: write FIELD:VALUE"}
		}
	}
	if t.field, err = fieldOf(name, found); err != nil {
		return t, &Error{column, err.Error()}
	}
	for more := true; more; {
		var one lexeme
		if one, rest, more = rest.cut(','); len(one) > 0 {
			column = one[0].column
		}
		v, err := t.field.read(one)
		if err == nil && len(t.values) == maxValues {
			err = fmt.Errorf("%s has more than %d values", t.field.name, maxValues)
		}
		if err != nil {
			return t, &Error{column, err.Error()}
		}
		t.values = append(t.values, v)
	}
	return t, nil
}

// beginning returns a text without a field as the beginning of an id.
func beginning(text lexeme) lexeme {
	if n := len(text); n > 0 && text[n-1].is('*') {
		text = text[:n-1]
	}
	out := make(lexeme, 0, len(text)+1)
	for _, c := range text {
		out = append(out, char{c.r, true, c.column})
	}
	if out.String() == "" {
		return nil
	}
	return append(out, char{'*', false, out[0].column})
}

// fieldOf returns the field of a term, which is id for a text without a field.
func fieldOf(name lexeme, given bool) (*field, error) {
	want := "id"
	if given {
		want = name.String()
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		if names[i] = f.name; f.name == want {
			return f, nil
		}
	}
	if want == "" {
		return nil, errors.New("a field is missing before the colon: write FIELD:VALUE")
	}
	return nil, fmt.Errorf("%.50s is not a field%s", want, meant(want, names))
}
