package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTimeline: each attempt is a bar of its own, and pauses and waits differ from it in shape. A link folds idle time,
// and the address keeps that.
func TestTimeline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		book := atom.Func("book", func(context.Context, struct{}) (string, error) {
			time.Sleep(time.Second)
			if calls++; calls < 3 {
				return "", atom.Errorf("Full", "call %d", calls)
			}
			return "room", nil
		}, atom.Attempts(5, atom.Constant(time.Hour)))
		paid := atom.Awaits[string]("wait", "paid", atom.Deferral{Deadline: 5 * time.Hour})
		store := memstore.New()
		e, err := engine.New(flow.Linear("order", book, paid), store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "o"); err == nil {
			t.Fatal("it did not fail")
		}
		page := func(address string) string {
			return get(t, console.New(store, console.Options{}), http.MethodGet, address).Body.String()
		}
		body := page("/run?id=o&view=timeline&atom=book")
		for what, want := range map[string]int{
			`class="fails"`: 4, `class="pause"`: 3, `class="idle"`: 2, // one of each is in the legend
			"pause before attempt 3: 1h0m0s": 2, "waits for a signal: 5h0m0s": 2, "attempt 2 FAILURE 1.0 s": 2, // and in the table
			`class="cut"`: 0,
		} {
			if n := strings.Count(body, what); n != want {
				t.Errorf("%q is there %d times, want %d:\n%s", what, n, want, body)
			}
		}
		const folding = `href="run?atom=book&amp;fold=1&amp;id=o&amp;view=timeline">Fold idle time`
		if !strings.Contains(body, folding) {
			t.Errorf("no %s in\n%s", folding, body)
		}
		body = page("/run?id=o&view=timeline&fold=1")
		if n := strings.Count(body, "⇿ "); n != 3 || !strings.Contains(body, "⇿ 5h0m0s") {
			t.Errorf("%d times are folded:\n%s", n, body)
		}
		for _, keeps := range []string{
			`href="run?atom=book&amp;fold=1&amp;id=o&amp;view=timeline"`, `href="run?fold=1&amp;id=o&amp;view=tree"`,
			`href="run?id=o&amp;view=timeline">Show idle time`,
		} {
			if !strings.Contains(body, keeps) {
				t.Errorf("no %s in\n%s", keeps, body)
			}
		}
	})
}
