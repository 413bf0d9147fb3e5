package cloudevents_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

const (
	asks = `{"name": "asks", "version": "1", "events": [
 {"name": "asked", "type": "credit.asked"},
 {"name": "answered", "type": "credit.answered", "correlation": [{"contextAttributeName": "orderId", "contextAttributeValue": "${ .order }"}]}],
"states": [{"name": "Ask", "start": true,
  "enterAction": {"type": "sendEvent", "event": "asked", "expression": "${ {sum} }", "contextAttributes": {"orderId": "${ .order }"}},
  "transitions": [{"nextState": "Done", "eventGroups": [{"events": ["answered"], "resultHandler": "${ .answer = $value.data }"}]}]},
 {"name": "Done"}]}`

	answers = `{"name": "answers", "version": "1", "events": [
 {"name": "asked", "type": "credit.asked", "correlation": [{"contextAttributeName": "orderId"}]},
 {"name": "answered", "type": "credit.answered"}],
"states": [{"name": "Wait", "start": true, "transitions": [
   {"nextState": "Done", "eventGroups": [{"events": ["asked"], "resultHandler": "${ .asked = $value }"}],
    "action": {"type": "sendEvent", "event": "answered", "expression": "${ {ok: true} }", "contextAttributes": {"orderId": "${ .order }"}}}]},
 {"name": "Done"}]}`
)

func engineOf(t *testing.T, definition string, store backend.Store, opts ...engine.Option) *engine.Engine {
	t.Helper()
	m, err := sm4c.Parse("f", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(m.Flow(), store, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// waits runs a run until it waits.
func waits(t *testing.T, eng *engine.Engine, id, input string) {
	t.Helper()
	if _, err := eng.Run(t.Context(), id, engine.Input(atom.FromJSON([]byte(input))), engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
		t.Fatalf("%s: %v; want it to wait", id, err)
	}
}

// TestDeliver finds exactly the runs that wait for an event, by the attributes that correlate it.
func TestDeliver(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	eng := engineOf(t, asks, store)
	long := strings.Repeat("9", 300) // is found by a hash
	for id, order := range map[string]string{"a": "1", "b": "2", "b2": "2", "c": long} {
		waits(t, eng, id, fmt.Sprintf(`{"order": %q, "sum": 5}`, order))
	}
	event := func(id, order string) cloudevents.Event {
		e, err := cloudevents.Parse(fmt.Appendf(nil,
			`{"specversion": "1.0", "id": %q, "source": "bank", "type": "credit.answered", "orderid": %q, "data": "yes"}`, id, order))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for i, c := range []struct {
		order string
		want  []string
	}{{"3", nil}, {"1", []string{"a"}}, {"1", []string{"a"}}, {"2", []string{"b", "b2"}}, {long, []string{"c"}}} {
		got, err := cloudevents.Deliver(t.Context(), store, event(fmt.Sprint(i), c.order))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("the event of %.5s goes to %v, %v; want %v", c.order, got, err, c.want)
		}
	}
	for _, id := range []string{"a", "b", "b2", "c"} {
		res, err := eng.Run(t.Context(), id)
		if err != nil || !strings.Contains(res.Output().String(), `"answer":"yes"`) {
			t.Errorf("%s: %v", id, err)
		}
		if len(res.Run.Labels) > 0 {
			run, err := store.Run(t.Context(), id)
			if err != nil || len(run.Labels) > 0 {
				t.Errorf("%s has ended, and is still found by %v, %v", id, run.Labels, err)
			}
		}
	}
	if got, err := cloudevents.Deliver(t.Context(), store, event("9", "1")); err != nil || len(got) > 0 {
		t.Errorf("an event goes to %v, %v, which has ended", got, err)
	}
}

// bus is a sink that fails at first, and then passes on what it receives.
type bus struct {
	to    http.Handler
	fails int

	mu  sync.Mutex
	ids []string
}

func (b *bus) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids = append(b.ids, r.Header.Get("Ce-Id"))
	w := httptest.NewRecorder()
	if b.fails > 0 {
		b.fails--
		w.WriteHeader(http.StatusBadGateway)
		return w.Result(), nil
	}
	b.to.ServeHTTP(w, r)
	b.to.ServeHTTP(httptest.NewRecorder(), again(r)) // at least once
	return w.Result(), nil
}

func again(r *http.Request) *http.Request {
	body, err := r.GetBody()
	if err != nil {
		panic(err)
	}
	r = r.Clone(r.Context())
	r.Body = body
	return r
}

// TestThereAndBack lets two machines talk to each other by events: out of the
// outbox, over HTTP, and into the inboxes of those that wait for them.
//
// Guarantee (State Machines For Cloud): Events come in and go out over HTTP.
// Also: `cmd/ebb: TestServeEvents`.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		sink := &bus{fails: 2}
		send := cloudevents.Sender(&http.Client{Transport: sink}, "http://bus/")
		askers := engineOf(t, asks, store)
		m, err := sm4c.Parse("g", []byte(answers))
		if err != nil {
			t.Fatal(err)
		}
		answerers, err := engine.New(m.Flow(), store)
		if err != nil {
			t.Fatal(err)
		}
		// The answerer's key is not known before it has got an event, so it is sent
		// there by its id.
		sink.to = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			target := "http://ebb/events"
			if r.Header.Get("Ce-Type") == "credit.asked" {
				target += "?run=answer"
			}
			to := httptest.NewRequest(http.MethodPost, target, r.Body)
			to.Header = r.Header
			cloudevents.Handler(store).ServeHTTP(w, to)
		})
		waits(t, answerers, "answer", `{"order": "7"}`)
		if err := askers.Start(t.Context(), "ask", engine.Input(atom.FromJSON([]byte(`{"order": "7", "sum": 5}`)))); err != nil {
			t.Fatal(err)
		}
		ctx, stop := contextOf(t)
		defer stop()
		var serving sync.WaitGroup
		for eng, opts := range map[*engine.Engine][]engine.ServerOption{askers: {engine.WithSender(send)}, answerers: nil} {
			serving.Go(func() {
				if err := eng.Serve(ctx, opts...); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Minute) // virtual
		for _, id := range []string{"ask", "answer"} {
			run, err := store.Run(t.Context(), id)
			if err != nil || run.Outcome != storage.Succeeded {
				t.Errorf("%s: %v, %v", id, run.State, err)
			}
			t.Logf("%s", run.Output.Data)
		}
		stop()
		serving.Wait()
		if len(sink.ids) != 4 || sink.ids[0] != sink.ids[1] || sink.ids[1] != sink.ids[2] || sink.ids[3] == sink.ids[2] {
			t.Errorf("the ids that were sent are %v; want one three times, and another", sink.ids)
		}
	})
}
