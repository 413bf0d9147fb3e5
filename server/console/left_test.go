package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestNotUndoneYet: the page of a run whose undo failed says what could not be undone and why, what was undone, and what
// is still to be undone. Each is a link.
func TestNotUndoneYet(t *testing.T) {
	t.Parallel()
	pair := func(name string, undo error) *atom.Atom {
		return atom.Pair(name, func(context.Context, struct{}) (int, error) { return 1, nil },
			func(context.Context, struct{}, atom.Outcome[int]) error { return undo })
	}
	pay := atom.Func("pay", func(context.Context, struct{}) (int, error) { return 0, atom.Errorf("Declined", "no money") })
	store := memstore.New()
	e, err := engine.New(flow.Linear("trip", pair("flight", nil), pair("hotel", nil),
		pair("voucher", errors.New("it was used")), pair("dinner", nil), pay), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "t"); err == nil {
		t.Fatal("it did not fail")
	}
	body := get(t, console.New(store, console.Options{}), http.MethodGet, "/run?id=t&view=undo").Body.String()
	link := func(name string) string {
		return `<a href="run?atom=` + name + `&amp;id=t&amp;view=undo">` + name + `</a>`
	}
	for _, want := range []string{
		"Not undone yet, last first: " + link("hotel") + ", " + link("flight"),
		`<b>` + link("voucher") + `</b> <span class="cause">Error: it was used</span>`,
		`Undone, last first</h2><ol class="undone long"><li>` + link("dinner"),
		`Can still be undone, last first</h2><ol class="long"><li>` + link("hotel") + `</li><li>` + link("flight") + `</li></ol>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	h := console.New(store, console.Options{Commands: api.New(store, api.Options{})})
	for do, want := range map[string]string{ // what the dialog says before
		"skip": "the undo continues with these", "retry-revert": "Not undone yet, last first: ", "retry": "Can still be undone, last first",
	} {
		r := httptest.NewRequestWithContext(server.WithCaller(t.Context(), server.Caller{Operate: true}), http.MethodGet,
			"/command?of=run&id=t&do="+do, nil)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), want) || !strings.Contains(w.Body.String(), ">hotel</a>") {
			t.Errorf("%s: no %s in\n%s", do, want, w.Body)
		}
	}
	if want := "Look at: " + link("voucher"); !strings.Contains(body, want) {
		t.Errorf("no %s in\n%s", want, body)
	}
	_, undone, _ := strings.Cut(body, "Undone, last first")
	if undone, _, _ = strings.Cut(undone, "</ol>"); strings.Contains(undone, "voucher") {
		t.Errorf("what could not be undone was undone:\n%s", undone)
	}
}

// TestChosenWithoutRecord: a step that is chosen stands in the panel, also if it has no record.
func TestChosenWithoutRecord(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	e, err := engine.New(flow.Linear("f", atom.Func("a", func(context.Context, struct{}) (int, error) { return 1, nil })), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	for atom, want := range map[string]string{
		"a": "<h2>a <span", "Choose[3]": "<h2>Choose[3]</h2><p class=\"soft\">This step has no record", "": "<h2>Run</h2>",
	} {
		body := get(t, console.New(store, console.Options{}), http.MethodGet, "/run?id=r&atom="+atom).Body.String()
		if !strings.Contains(body, want) {
			t.Errorf("%s: no %s in\n%s", atom, want, body)
		}
	}
}
