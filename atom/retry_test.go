package atom_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// after returns the history of a retry whose tries provided values and failed
// with the codes of last in the end.
func after(values []any, last ...string) atom.History {
	var h atom.History
	for _, v := range values {
		h.Tries = append(h.Tries, atom.Try{Value: atom.MustEncode(v)})
	}
	for _, code := range last {
		h.Last().Failures = append(h.Last().Failures, &atom.Failure{Code: code})
	}
	return h
}

func TestRetriesDecide(t *testing.T) {
	t.Parallel()
	backoff := atom.Exponential(time.Second, time.Minute)
	list := atom.ForEachOf("hosts")
	hosts := func(v any) atom.Values { return atom.NewValues(list.Args(), []atom.Value{atom.MustEncode(v)}) }
	for name, tc := range map[string]struct {
		retry   *atom.Atom
		history atom.History
		in      atom.Values
		verdict atom.Verdict
		after   time.Duration
		next    string // value for the next try; "" if there is none
	}{
		"times, first failure": {
			atom.Times(3, backoff), after([]any{1}, "A"),
			atom.Values{},
			atom.VerdictRetry,
			time.Second, "2",
		},
		"times, second failure": {
			atom.Times(3, backoff), after([]any{1, 2}, "A"),
			atom.Values{},
			atom.VerdictRetry,
			2 * time.Second, "3",
		},
		"times, used up": {
			atom.Times(3, backoff), after([]any{1, 2, 3}, "A"),
			atom.Values{},
			atom.VerdictRevert, 0,
			"4",
		},
		"times, none at all":   {atom.Times(0, backoff), after([]any{1}, "A"), atom.Values{}, atom.VerdictRevert, 0, "2"},
		"times, nothing tried": {atom.Times(3, backoff), after(nil), atom.Values{}, atom.VerdictRevert, 0, "1"},
		"times, used up, all": {
			atom.TimesThenAll(1, backoff), after([]any{1}, "A"),
			atom.Values{},
			atom.VerdictRevertAll, 0, "2",
		},
		"times, a listed code": {
			atom.Times(3, backoff, "A", "B"), after([]any{1}, "B"),
			atom.Values{},
			atom.VerdictRetry,
			time.Second, "2",
		},
		"times, another code": {
			atom.Times(3, backoff, "A"), after([]any{1}, "C"),
			atom.Values{},
			atom.VerdictRevert, 0,
			"2",
		},
		"times, one of two codes": {
			atom.Times(3, backoff, "A"), after([]any{1}, "A", "C"),
			atom.Values{},
			atom.VerdictRevert, 0, "2",
		},
		"always": {
			atom.AlwaysRevert(), after([]any{nil}, "A"),
			atom.Values{},
			atom.VerdictRevert, 0,
			"null",
		},
		"always all": {
			atom.AlwaysRevertAll(), after([]any{nil}, "A"),
			atom.Values{},
			atom.VerdictRevertAll, 0,
			"null",
		},
		"each, some left": {
			atom.ForEach("a", "b"), after([]any{"a"}, "A"),
			atom.Values{},
			atom.VerdictRetry, 0,
			`"b"`,
		},
		"each, none left": {
			atom.ForEach("a", "b"), after([]any{"a", "b"}, "A"),
			atom.Values{},
			atom.VerdictRevert,
			0, "",
		},
		"each, none left, all": {
			atom.ForEachThenAll("a"), after([]any{"a"}, "A"),
			atom.Values{},
			atom.VerdictRevertAll,
			0, "",
		},
		"each, one twice": {
			atom.ForEach("a", "b", "a"), after([]any{"a", "b"}, "A"),
			atom.Values{},
			atom.VerdictRetry, 0, `"a"`,
		},
		"each, out of order": {
			atom.ForEach("a", "b", "a"), after([]any{"b"}, "A"),
			atom.Values{},
			atom.VerdictRetry, 0,
			`"a"`,
		},
		"each, a foreign value": {atom.ForEach("a"), after([]any{"z"}, "A"), atom.Values{}, atom.VerdictRetry, 0, `"a"`},
		"each of a symbol":      {list, after([]any{1}, "A"), hosts([]int{1, 2}), atom.VerdictRetry, 0, "2"},
		"each of a symbol, none": {
			atom.ForEachOfThenAll("hosts"), after([]any{1}, "A"), hosts([]int{1}),
			atom.VerdictRevertAll, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.retry.Controller().OnFailure(tc.history, tc.in)
			if want := (atom.Decision{Verdict: tc.verdict, After: tc.after}); err != nil || got != want {
				t.Errorf("decides %+v, %v; want %+v", got, err, want)
			}
			next, err := tc.retry.Controller().Next(tc.history, tc.in)
			if next.String() != tc.next || tc.next == "" && !errors.Is(err, atom.ErrNoValueLeft) {
				t.Errorf("provides %s, %v; want %s", next, err, tc.next)
			}
		})
	}
}

func TestForEachOfNoList(t *testing.T) {
	t.Parallel()
	r := atom.ForEachOf("hosts")
	in := atom.NewValues(r.Args(), []atom.Value{atom.MustEncode("a")})
	if _, err := r.Controller().Next(atom.History{}, in); err == nil {
		t.Error("a text is a list of values")
	}
	if _, err := r.Controller().OnFailure(after([]any{1}, "A"), in); err == nil {
		t.Error("a text is a list of values")
	}
}

func TestRetryIsAnAtom(t *testing.T) {
	t.Parallel()
	r := atom.Times(3, atom.Backoff{}, "A", "B")
	named := r.Renamed("charge_retry")
	if named.Name() != "charge_retry" || r.Name() != "" || named.Kind() != atom.KindRetry || named.Body() != nil ||
		!named.Reverts() {
		t.Errorf("%+v", named)
	}
	if got, want := r.Controller().(interface{ String() string }).String(), "up to 3 tries on A, B"; got != want {
		t.Errorf("describes itself as %q, want %q", got, want)
	}
	for want, v := range map[string]atom.Verdict{
		"REVERT": atom.VerdictRevert, "REVERT_ALL": atom.VerdictRevertAll,
		"RETRY": atom.VerdictRetry,
	} {
		if v.String() != want {
			t.Errorf("%d is called %s, want %s", v, v, want)
		}
	}
}

// TestNamedValue: the value of a retry can be named, with the type that its flow is checked against. The retry without
// a name stays as it is.
func TestNamedValue(t *testing.T) {
	t.Parallel()
	for want, retry := range map[string]*atom.Atom{
		"string": atom.ForEach("a", "b"), "int": atom.Times(3, atom.Backoff{}), "<nil>": atom.ForEachOf("zones"),
	} {
		named := retry.As("zone").Provides()
		if len(named) != 1 || named[0].Symbol != "zone" || fmt.Sprint(named[0].Type) != want || len(retry.Provides()) > 0 {
			t.Errorf("got %+v of %+v; want a %s", named, retry.Provides(), want)
		}
	}
}
