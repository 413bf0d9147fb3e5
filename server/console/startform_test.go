package console_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

const orderSchema = `{"type": "object", "required": ["customer", "rush"], "properties": {
	"customer": {"type": "string", "title": "Customer", "description": "who pays"},
	"amount": {"type": "number", "default": 7},
	"rush": {"type": "boolean"},
	"size": {"enum": ["S", "L", 3]},
	"lines": {"type": "array"},
	"<b>&": {"type": "string"}}}`

// TestStartForm: the form of a new run has a field for each member that the schema beside the definition describes, in
// its order, filled in from an earlier run. What it sends is one input, with numbers as they were written.
func TestStartForm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	stored := d.ask(http.MethodPost, "edit", url.Values{
		"do": {"store"}, "f.flow": {"order"}, "f.text": {"fine"}, "f.newest": {"0"}, "f.schema": {orderSchema},
	})
	if stored.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", stored.Code, stored.Body)
	}
	const form = "command?of=&do=jobs&f.flow=order"
	page := d.ask(http.MethodGet, form, nil).Body.String()
	at := 0
	for _, want := range []string{
		"write it as JSON", `<span>Customer *</span> <span class="soft">who pays</span><input name="i.text.customer" value="" required`,
		`type="number" step="any" name="i.json.amount" value="7"`, `<select name="i.json.rush" required`, `value="false"`,
		`<select name="i.json.size"`, `value="&#34;L&#34;">L<`, `value="3">3<`, `<textarea name="i.json.lines"`, `name="i.text.&lt;b&gt;&amp;"`,
	} {
		next := strings.Index(page[at:], want)
		if next < 0 {
			t.Fatalf("want %s after %d in\n%s", want, at, page)
		}
		at += next
	}
	if strings.Contains(page, `name="f.input"`) {
		t.Error("the input can be given twice")
	}
	if raw := d.ask(http.MethodGet, form+"&raw=1", nil).Body.String(); !strings.Contains(raw, `name="f.input"`) || strings.Contains(raw, "i.json.") {
		t.Errorf("as JSON:\n%s", raw)
	}
	fields := url.Values{
		"once": {"1"}, "f.flow": {"order"}, "f.id": {"o-1"}, "i.text.customer": {"12"}, "i.json.amount": {"12345678901234567890.10"},
		"i.json.rush": {"false"}, "i.json.size": {`"L"`}, "i.json.lines": {""}, "i.text.<b>&": {"a"},
	}
	wrong := url.Values{"once": {"1"}, "f.flow": {"order"}, "i.json.amount": {"many"}, "i.text.customer": {"ann"}}
	if w := d.ask(http.MethodPost, form, wrong); w.Code != http.StatusBadRequest || !strings.Contains(html.UnescapeString(w.Body.String()), "amount: this is not JSON") ||
		!strings.Contains(w.Body.String(), `value="ann"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for range 2 { // sent twice, it starts one run
		if w := d.ask(http.MethodPost, form, fields); w.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	all, err := d.store.JobList(t.Context(), storage.JobQuery{})
	started := slices.DeleteFunc(all, func(j storage.Job) bool { return j.Flow != "order" })
	if err != nil || len(started) != 1 {
		t.Fatalf("%d jobs, %v", len(started), err)
	}
	const want = `{"\u003cb\u003e\u0026":"a","amount":12345678901234567890.10,"customer":"12","rush":false,"size":"L"}`
	if got := started[0].Input.String(); got != want {
		t.Errorf("the input is %s, want %s", got, want)
	}
}

// TestStartFormOfGoFlow: once a flow of Go code has run, the form of its next run has a field for each symbol of its
// input. What it sends is one input.
func TestStartFormOfGoFlow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	type paying struct {
		Amount int    `json:"amount"`
		Card   string `json:"card"`
		Note   string `json:"note,omitempty"`
	}
	amount, card, note := atom.NewKey[int]("amount"), atom.NewKey[string]("card"), atom.NewKey[string]("note")
	pay := atom.Func("pay", func(context.Context, paying) (string, error) { return "", nil })
	eng, err := engine.New(flow.Linear("pay", pay), d.store, engine.WithInputs(amount, card, note))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "p1", engine.With(amount, 3), engine.With(card, "visa")); err != nil {
		t.Fatal(err)
	}
	const form = "command?of=&do=jobs&f.flow=pay"
	page := d.ask(http.MethodGet, form, nil).Body.String()
	for _, want := range []string{
		`<span>amount *</span>`, `type="number" step="any" name="i.json.amount"`, `<span>card *</span>`, `name="i.text.card"`,
		`<span>note</span>`, `name="i.text.note"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("want %s in\n%s", want, page)
		}
	}
	fields := url.Values{
		"once": {"1"}, "f.flow": {"pay"}, "f.id": {"p-2"}, "i.json.amount": {"4"}, "i.text.card": {"7"}, "i.text.note": {""},
	}
	if w := d.ask(http.MethodPost, form, fields); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}
