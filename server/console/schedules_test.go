package console_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTicks: the next ticks of a schedule are times that a script can show as the reader chose.
func TestTicks(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	at := time.Date(2026, 11, 27, 1, 30, 0, 0, time.UTC)
	s := storage.Schedule{ID: "nightly", Flow: "f", Spec: "TZ=Europe/Rome 30 2 * * *", Next: at}
	if err := store.PutSchedule(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	body := get(t, console.New(store, console.Options{}), http.MethodGet, "/schedules").Body.String()
	tick := regexp.MustCompile(`<time datetime="[0-9-]+T0[01]:30:00.000Z" title="[^"]+ UTC">[0-9-]+ 0[01]:30 UTC</time>`)
	if found := tick.FindAllString(body, -1); len(found) != 3 {
		t.Errorf("the page has the ticks %q:\n%s", found, body)
	}
}
