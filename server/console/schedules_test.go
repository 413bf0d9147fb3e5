package console_test

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTicks: the next ticks of a schedule are times that a script can show as the reader chose, and what the clocks of its
// time zone show then.
func TestTicks(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	at := time.Date(2026, 11, 27, 1, 30, 0, 0, time.UTC)
	s := backend.Schedule{ID: "nightly", Flow: "f", Spec: "TZ=Europe/Rome 30 2 * * *", Next: at}
	if err := store.PutSchedule(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	body := get(t, console.New(store, console.Options{}), http.MethodGet, "/schedules").Body.String()
	tick := regexp.MustCompile(`<time datetime="[0-9-]+T0[01]:30:00.000Z" title="[^"]+ UTC">[0-9-]+ 0[01]:30 UTC</time>` +
		`<span class="soft"> = [0-9-]+ 02:30 CES?T</span>`)
	if found := tick.FindAllString(body, -1); len(found) != 3 {
		t.Errorf("the page has the ticks %q:\n%s", found, body)
	}
}

// TestFactsOfTables: a schedule says in words when it ticks, a limit how much of it is in use, a job what it needs, and
// the page of processes which workers ask for work. Each cell has its heading, for narrow screens.
func TestFactsOfTables(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	s := backend.Schedule{ID: "nightly", Flow: "f", Spec: "TZ=Europe/Rome 30 2 * * *", Next: time.Now()}
	job := storage.Job{ID: "j", Run: "of-j", Flow: "trip", Labels: map[string]string{"gpu": "a100"}}
	run := storage.Run{ID: "r", Flow: "trip", Labels: map[string]string{"team": "red"}}
	if err := errors.Join(store.PutSchedule(t.Context(), s), store.SetLimit(t.Context(), storage.Limit{Label: "team", Runs: 3}),
		store.Create(t.Context(), run), store.PostJob(t.Context(), job)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Begin(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	request := storage.WorkRequest{Queues: []string{"gpu"}, Worker: "box"}
	if _, err := store.AwaitToken(t.Context(), request, 0, nil); !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	h := console.New(store, console.Options{})
	for page, want := range map[string]string{
		"/schedules": `every day at 02:30, in Europe/Rome`, "/limits": `<td data-head="Driven now">1 of 3, for team=red</td>`,
		// The run of a job that no process has claimed is no link, because there is none.
		"/jobs":      `<td data-head="Run">of-j</td>`,
		"/processes": `<td data-head="Queue">gpu</td><td data-head="Workers">box</td>`,
	} {
		if body := get(t, h, http.MethodGet, page).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s does not say %s:\n%s", page, want, body)
		}
	}
}
