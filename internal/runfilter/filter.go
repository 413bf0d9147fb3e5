package runfilter

import (
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A Filter selects runs. The zero Filter selects all runs.
type Filter struct{ terms []term }

// A term is a condition on one field of a run.
type term struct {
	field  *field
	not    bool
	values []value // one must hold
}

// A value is what a field is compared with. It uses the parts that its field has.
type value struct {
	key    string // of a label, or the kind of a wait
	bare   bool   // a label with any value, or a wait with any name
	text   string
	prefix bool // the text is the beginning
	span   span
}

// String returns the filter as text, which [Parse] reads as the same filter.
func (f Filter) String() string {
	terms := make([]string, len(f.terms))
	for i := range f.terms {
		t := &f.terms[i]
		values := make([]string, len(t.values))
		for j := range t.values {
			values[j] = t.field.write(&t.values[j])
		}
		terms[i] = t.field.name + `:` + strings.Join(values, `,`)
		if t.not {
			terms[i] = `-` + terms[i]
		}
	}
	return strings.Join(terms, ` `)
}

// Term returns the filter of the runs of which a field has a value, such as the runs with a parent. The value needs no
// quotation marks. That of a label is KEY or KEY=VALUE, that of a wait KIND or KIND=NAME. The error is an *[Error].
func Term(field, value string) (Filter, error) {
	text := quote(value, false)
	if key, rest, found := strings.Cut(value, `=`); found && (field == labelField || field == waitsField) {
		text = quote(key, false) + `=` + quote(rest, false)
	}
	return Parse(field + `:` + text)
}

// And returns the filter of the runs that both filters select.
func (f Filter) And(other Filter) Filter {
	return Filter{slices.Concat(f.terms, other.terms)}
}

// Matches reports whether the filter selects a run at this time, as far as the run's record says. So it leaves out the
// terms about waits.
func (f Filter) Matches(run *storage.Run, now time.Time) bool {
	for i := range f.terms {
		if t := &f.terms[i]; t.field.holds != nil && !t.holds(run, now) {
			return false
		}
	}
	return true
}

func (t *term) holds(run *storage.Run, now time.Time) bool {
	for i := range t.values {
		if t.field.holds(&t.values[i], run, now) {
			return !t.not
		}
	}
	return t.not
}
