package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestFilterControls chooses each field of a filter, and negates it, with the controls of the list. The typed filter
// says the same, and each of its terms has links that negate and remove it.
func TestFilterControls(t *testing.T) {
	t.Parallel()
	h := undone(t)
	values := map[string]string{
		"state": "REVERTED", "outcome": "failed", "undo": "undone", "is": "ended", "label": "a=b", "waits": "signal=b c", "created": "<1h", "ended": "<1h",
	}
	for _, field := range runfilter.Fields() {
		value := values[field]
		if value == "" {
			value = "x"
		}
		term, err := runfilter.Term(field, value)
		if err != nil {
			t.Fatal(err)
		}
		for _, not := range []string{"", "1"} {
			want, other := "flow:trip "+term.String(), term.Negated().String()
			if not != "" {
				want, other = "flow:trip "+other, term.String()
			}
			q := url.Values{"filter": {"flow:trip"}, "field": {field}, "value": {value}, "not": {not}}
			body := html.UnescapeString(get(t, h, http.MethodGet, "/runs?"+q.Encode()).Body.String())
			for _, has := range []string{
				`name="filter" value="` + want + `"`, `<option value="` + field + `">`,
				`href="runs?` + url.Values{"filter": {"flow:trip " + other}}.Encode() + `" aria-label="negate ` + strings.TrimPrefix(want, "flow:trip ") + `"`,
				`href="runs?filter=flow%3Atrip" aria-label="remove`,
			} {
				if !strings.Contains(body, has) {
					t.Errorf("%s %s: want %s in\n%s", not, field, has, body)
				}
			}
		}
	}
	if body := get(t, h, http.MethodGet, "/runs?field=sate&value=x").Body.String(); !strings.Contains(body, "did you mean") {
		t.Errorf("an unknown field is no problem:\n%s", body)
	}
}

// TestChildrenBelowParents: in a list with child runs, these stand below their parent.
func TestChildrenBelowParents(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	began := time.Now()
	for i, run := range []struct{ id, parent string }{{"a", ""}, {"b", ""}, {"a/1", "a"}, {"a/1/x", "a/1"}, {"c/1", "c"}} {
		r := storage.Run{ID: run.id, Flow: "f", Structure: "x", Parent: run.parent, Created: began.Add(time.Duration(i) * time.Second)}
		if err := store.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	body := get(t, console.New(store, console.Options{}), http.MethodGet, "/runs?children=1").Body.String()
	var order []string
	for _, row := range strings.Split(body, `<tr data-key="`)[1:] {
		id, _, _ := strings.Cut(row, `"`)
		order = append(order, id)
	}
	if got := strings.Join(order, " "); got != "c/1 b a a/1 a/1/x" {
		t.Errorf("the runs are %s", got)
	}
}
