package console_test

import (
	"context"
	"errors"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A desk is a console with forms, and the person at it.
type desk struct {
	*testing.T

	store    *memstore.Store
	commands server.Commands
	handler  http.Handler
	caller   server.Caller
}

// newDesk returns the console of a store with a run in each state in which something can be done.
func newDesk(t *testing.T) *desk {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	d := &desk{T: t, store: store, caller: server.Caller{Name: "ann", Operate: true}}
	run := func(id string, root flow.Node, want error, opts ...engine.RunOption) {
		t.Helper()
		eng, err := engine.New(root, store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), id, opts...); want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Fatalf("%s: %v", id, err)
		}
	}
	book := atom.Pair("book", func(context.Context, struct{}) (string, error) { return "ok", nil },
		func(context.Context, struct{}, atom.Outcome[string]) error { return errors.New("no refund") })
	fail := atom.Func("fail", func(context.Context, struct{}) (string, error) { return "", errors.New("no") })
	run("done", flow.Linear("trip", book), nil)
	eng, err := engine.New(flow.Linear("stuck", book, fail), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "stuck"); err == nil {
		t.Fatal("the run succeeded")
	}
	eng, err = engine.New(flow.Linear("lost", fail), store)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = eng.Run(t.Context(), "lost") // fails
	wait := flow.Linear("order", atom.Remote[struct{}, string]("pay", "pay"))
	run("open", wait, engine.ErrWaiting, engine.Unload())
	run("held", wait, engine.ErrWaiting, engine.Unload())
	if _, err := engine.Suspend(t.Context(), store, "held"); err != nil {
		t.Fatal(err)
	}
	signal := flow.Linear("signal", atom.Awaits[string]("wait", "go", atom.Deferral{}))
	run("await", signal, engine.ErrWaiting, engine.Unload())
	board := jobs.New(store, jobs.Policy{})
	if _, err := board.Post(t.Context(), jobs.Job{ID: "job", Flow: "f"}, jobs.Job{ID: "later", Flow: "f", NotBefore: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"nightly", "daily"} {
		if err := board.AddSchedule(t.Context(), jobs.Schedule{ID: id, Spec: "@daily", Job: jobs.Job{Flow: "f"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := board.PauseSchedule(t.Context(), "daily", true); err != nil {
		t.Fatal(err)
	}
	d.commands = api.New(store, api.Options{Languages: languages{}, Trials: &server.Trials{}})
	d.handler = console.New(store, console.Options{Commands: d.commands})
	return d
}

func (d *desk) ask(method, address string, form url.Values) *httptest.ResponseRecorder {
	d.Helper()
	r := httptest.NewRequestWithContext(server.WithCaller(d.Context(), d.caller), method, "http://localhost/console/"+address,
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

var (
	links  = regexp.MustCompile(`href="(command\?[^"]*)"`)
	hidden = regexp.MustCompile(`name="once" value="([^"]*)"`)
)

// desks are the pages with buttons.
var desks = []string{
	"", "runs", "run?id=done", "run?id=done&atom=book", "run?id=stuck", "run?id=stuck&view=undo", "run?id=stuck&atom=book", "run?id=lost", "run?id=open",
	"run?id=held", "run?id=await", "jobs", "schedules", "limits",
}

// buttons returns the addresses of all forms, by operation.
func (d *desk) buttons() map[string][]string {
	d.Helper()
	all := map[string][]string{}
	for _, page := range desks {
		for _, found := range links.FindAllStringSubmatch(d.ask(http.MethodGet, page, nil).Body.String(), -1) {
			to := html.UnescapeString(found[1])
			q, err := url.ParseQuery(strings.TrimPrefix(to, "command?"))
			if err != nil {
				d.Fatal(err)
			}
			name := q.Get("of") + " " + q.Get("do")
			all[name] = append(all[name], to)
		}
	}
	return all
}

// TestEveryCommand presses a button for each operation of the API, sends its form twice, and finds one line about it in
// the audit or one message in the inbox, which says who did it.
func TestEveryCommand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const choice = `<select name="f.command" required=""><option value="">–</option><option value="cancel">cancel</option>`
	if body := d.ask(http.MethodGet, "command?of=&do=bulk&f.filter=id:*", nil).Body.String(); !strings.Contains(body, choice) {
		t.Errorf("the form of a bulk command does not let a person choose a command:\n%s", body)
	}
	buttons := d.buttons()
	fields := map[string]url.Values{
		" jobs": {"f.flow": {"f"}}, " schedules": {"f.id": {"new"}, "f.spec": {"@daily"}, "f.flow": {"f"}}, " limits": {"f.runs": {"3"}},
		" bulk":      {"f.filter": {"id:*"}, "f.command": {"cancel"}},
		"run signal": {"f.name": {"go"}, "f.data": {`{"n": 12345678901234567890}`}}, "token complete": {"f.result": {`"paid"`}},
		"run retry": {"f.from": {"book"}},
	}
	for _, o := range d.commands.Operations() {
		name := o.Of + " " + o.Name
		to := buttons[name]
		if name == "job cancel" { // the other one is released
			to = slices.DeleteFunc(to, func(one string) bool { return strings.Contains(one, "later") })
		}
		if len(to) == 0 {
			t.Errorf("no page has a button for %q", name)
			continue
		}
		page := d.ask(http.MethodGet, to[0], nil)
		once := hidden.FindStringSubmatch(page.Body.String())
		if page.Code != http.StatusOK || once == nil {
			t.Fatalf("%s: %d %s", to[0], page.Code, page.Body)
		}
		before := d.traces()
		form := url.Values{"once": {once[1]}}
		maps.Copy(form, fields[name])
		w := d.ask(http.MethodPost, to[0], form)
		if w.Code != http.StatusSeeOther || strings.Contains(w.Header().Get("Location"), "//") {
			t.Errorf("%s: %d %v\n%s", to[0], w.Code, w.Header(), w.Body)
			continue
		}
		if got := d.traces() - before; got != 1 {
			t.Errorf("%s leaves %d traces of ann", to[0], got)
		}
		before = d.traces()
		if again := d.ask(http.MethodPost, to[0], form); o.Of == "run" && (again.Code != http.StatusSeeOther || d.traces() != before) {
			t.Errorf("%s counts twice: %d", to[0], again.Code)
		}
	}
}

// TestTold: a page says that something was done only after the server has done it: to the caller who did it, for a
// minute, from each server on the database.
//
// Attack (HTTP server): A link to the console whose query says that a command succeeded.
// Result: The page says only what the server signed for the caller, for a minute.
func TestTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		tells := func(address string) bool {
			return strings.Contains(d.ask(http.MethodGet, address, nil).Body.String(), `class="told" role="status">✓`)
		}
		give := func(to string, form url.Values) string {
			w := d.ask(http.MethodPost, to, form)
			if w.Code != http.StatusSeeOther {
				t.Fatalf("%s: %d %s", to, w.Code, w.Body)
			}
			return w.Header().Get("Location")
		}
		paused := give("command?of=schedule&do=pause&id=nightly", url.Values{"once": {"k"}})
		d.handler = console.New(d.store, console.Options{Commands: d.commands}) // of another process
		cancelled := give("command?of=run&do=cancel&id=open", url.Values{"once": {"l"}})
		for _, page := range []string{paused, cancelled} {
			if !tells(page) {
				t.Errorf("%s does not say what was done", page)
			}
		}
		forged := []string{
			"runs?did=run+cancel", "jobs?did=job+cancel", "runs?did=run+cancel~9999999999~", "definition?did=stored",
			strings.Replace(paused, "pause", "remove", 1), strings.Replace(paused, "~", "~9", 1), "runs?did=~~",
		}
		for _, page := range forged {
			if tells(page) {
				t.Errorf("%s says that something was done", page)
			}
		}
		d.caller.Name = "bob"
		if tells(paused) {
			t.Error("what ann did is told to bob")
		}
		d.caller.Name = "ann"
		time.Sleep(time.Minute)
		if tells(paused) {
			t.Error("what was done is told for more than a minute")
		}
	})
}

// TestSaysWhatTheAPIAnswered: a command to something whose ID no path can contain is refused by the API, also with a
// redirect, and so the console shows no success and nothing is recorded. A store takes such IDs from earlier programs.
//
// Attack (HTTP server): A command of the console to an ID that no path can contain.
// Result: Refused. Only an answer of the API counts as success.
func TestSaysWhatTheAPIAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, id := range []string{".", "..", "/", ""} {
		for of, do := range map[string]string{"run": "cancel", "job": "cancel", "schedule": "pause"} {
			to := "command?" + url.Values{"of": {of}, "do": {do}, "id": {id}}.Encode()
			w := d.ask(http.MethodPost, to, url.Values{"once": {"k"}})
			if w.Code < http.StatusBadRequest || strings.Contains(w.Body.String(), `class="told"`) {
				t.Errorf("%s: %d %s", to, w.Code, w.Header().Get("Location"))
			}
		}
		if id == "" { // one is drawn
			continue
		}
		for to, form := range map[string]url.Values{
			"command?of=&do=jobs":      {"f.flow": {"f"}, "f.id": {id}},
			"command?of=&do=schedules": {"f.flow": {"f"}, "f.id": {id}, "f.spec": {"@daily"}},
		} {
			if w := d.ask(http.MethodPost, to, form); w.Code != http.StatusBadRequest {
				t.Errorf("%s with the id %q: %d", to, id, w.Code)
			}
		}
	}
	if n := d.traces(); n != 0 {
		t.Errorf("there are %d traces", n)
	}
}

// traces counts the lines and messages of ann on the console.
func (d *desk) traces() int {
	d.Helper()
	n := 0
	lines, err := d.store.Audit(d.Context(), backend.AuditQuery{})
	if err != nil {
		d.Fatal(err)
	}
	ann := storage.Issuer{Via: storage.ViaConsole, Name: "ann"}
	for i := range lines {
		if *lines[i].Entry.Issuer == ann {
			n++
		}
	}
	for _, run := range []string{"done", "stuck", "lost", "open", "held", "await"} {
		_, messages, err := backend.AllMessages(d.Context(), d.store, run)
		if err != nil {
			d.Fatal(err)
		}
		for i := range messages {
			if by := messages[i].Issuer; by != nil && *by == ann {
				n++
			}
		}
	}
	return n
}

// TestWhyButtons: beside the sentences of ebb why stands a button for each command that they name. Only a caller who may
// not press it reads the command.
func TestWhyButtons(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	why := func(run string) string {
		_, rest, _ := strings.Cut(d.ask(http.MethodGet, "run?id="+run, nil).Body.String(), `<section class="why"`)
		section, _, _ := strings.Cut(rest, `</section>`)
		return section
	}
	for run, want := range map[string]struct {
		command string
		buttons []string
	}{
		"stuck": {"ebb retry --revert stuck book", []string{"do=retry-revert&f.atom=book&id=stuck&", "do=skip&f.atom=book&id=stuck&"}},
		"held":  {"ebb resume held", []string{"do=resume&id=held&"}},
		"await": {"ebb signal await go", []string{"do=signal&f.name=go&id=await&"}},
		"open":  {"", []string{"do=complete&id="}},
	} {
		d.caller = server.Caller{Name: "ann", Operate: true}
		if got := html.UnescapeString(why(run)); strings.Contains(got, "ebb ") {
			t.Errorf("%s: a command stands beside its button:\n%s", run, got)
		} else {
			for _, button := range want.buttons {
				if strings.Count(got, button) != 1 {
					t.Errorf("%s has no button %s:\n%s", run, button, got)
				}
			}
		}
		d.caller = server.Caller{Name: "eve"}
		if got := why(run); !strings.Contains(got, want.command) || strings.Contains(got, "button") {
			t.Errorf("%s: who may only read does not read the command:\n%s", run, got)
		}
	}
}

// TestRevertCause: beside a step that could not be undone, the tree and its levels say why its revert failed.
func TestRevertCause(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	cause := regexp.MustCompile(`class="cause">[^<]*no refund<`)
	for _, page := range []string{"run?id=stuck", "run?id=stuck&below=", "run?id=stuck&atom=book", "run?id=stuck&view=undo"} {
		if got := d.ask(http.MethodGet, page, nil).Body.String(); !cause.MatchString(got) {
			t.Errorf("%s does not say why the revert failed:\n%s", page, got)
		}
	}
}

// TestPreviewPivots: before a run is cancelled, the form says what would be undone, and at which point of no return that
// ends.
func TestPreviewPivots(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	task := func(name string, options ...atom.Option) flow.Node {
		return atom.Pair(name, func(context.Context, struct{}) (string, error) { return "", nil },
			func(context.Context, struct{}, atom.Outcome[string]) error { return nil }, options...)
	}
	root := flow.Linear("order", task("pay"), task("ship", atom.Pivot()), task("mail"),
		atom.Remote[struct{}, string]("rate", "rate"))
	eng, err := engine.New(root, d.store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "shipped", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
		t.Fatal(err)
	}
	d.handler = console.New(d.store, console.Options{Commands: api.New(d.store, api.Options{
		Flow: func(context.Context, *storage.Run) (flow.Node, error) { return root, nil },
	})})
	body := d.ask(http.MethodGet, "command?of=run&do=cancel&id=shipped", nil).Body.String()
	for _, want := range []string{
		`<li>mail `, "⊥ Points of no return at which the undo stops</h2><ul><li>ship</li></ul>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
	if strings.Contains(body, "pay") {
		t.Errorf("what comes before the point of no return is listed in\n%s", body)
	}
}
