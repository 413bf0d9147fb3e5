package storagetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func testRunsWithMessages(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, run("a"), run("b"), run("c"), run("free"))
	p, q := begin(t, s, "a"), begin(t, s, "b")
	foreign := begin(t, other, "c")
	signal := func(id string) storage.Message { return storage.Message{Run: id, Kind: "signal"} }
	now := int64(0)
	expect := func(what string, want ...backend.Arrival) {
		t.Helper()
		got, then, err := s.RunsWithMessages(t.Context(), now)
		must(t, "RunsWithMessages", err)
		same(t, what, want, got)
		if then < now {
			t.Fatalf("%s: time goes back from %d to %d", what, now, then)
		}
		now = then
	}
	expect("nothing")
	must(t, "Send", s.Send(t.Context(), signal("b"), signal("c"), signal("a"), signal("b"), signal("free")))
	expect("two of mine, the last one last", backend.Arrival{Run: "a", Wakeups: 1}, backend.Arrival{Run: "b", Wakeups: 2})
	expect("nothing since")
	must(t, "Send", other.Send(t.Context(), signal("a")))
	expect("a message from elsewhere", backend.Arrival{Run: "a", Wakeups: 2})
	foreign.write(t, backend.Checkpoint{Messages: []storage.Message{signal("b")}})
	expect("a message in a checkpoint", backend.Arrival{Run: "b", Wakeups: 3})
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{{ID: "t", Run: "a", Path: "x"}}})
	_, err := other.EndToken(t.Context(), "t", storage.TokenEnd{Result: value(1)})
	must(t, "EndToken", err)
	expect("the end of a token", backend.Arrival{Run: "a", Wakeups: 3})
	if _, err := other.EndToken(t.Context(), "t", storage.TokenEnd{Result: value(1)}); err == nil {
		t.Fatalf("a token was ended twice")
	}
	expect("a token that was ended before")
	must(t, "Send", other.Send(t.Context(), signal("b")))
	q.write(t, backend.Checkpoint{Taken: []int64{1, 2, 3, 4}})
	expect("messages that were taken")
	must(t, "Send", other.Send(t.Context(), signal("b"))) // numbers are not repeated
	expect("a message after all were taken", backend.Arrival{Run: "b", Wakeups: 5})

	now = 0
	expect("all from the beginning", backend.Arrival{Run: "a", Wakeups: 3}, backend.Arrival{Run: "b", Wakeups: 5})
	must(t, "Release", s.Release(t.Context(), p.claim, 3, time.Time{}))
	begin(t, s, "free")
	now = 0
	expect("after a change of owners", backend.Arrival{Run: "free", Wakeups: 1}, backend.Arrival{Run: "b", Wakeups: 5})
}

// testManyRunsWithMessages sends so many messages that a store with a list of them must shorten it. Some messages are
// processed, others are not.
func testManyRunsWithMessages(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"), run("late"))
	p := begin(t, s, "a")
	begin(t, s, "b")
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "b", Kind: "kept"}))
	const messages, batch = 5000, 100
	burst := make([]storage.Message, batch)
	for n := int64(0); n < messages; n += batch {
		cp := backend.Checkpoint{}
		for i := range burst {
			burst[i] = storage.Message{Run: "a", Kind: "signal"}
			cp.Taken = append(cp.Taken, n+int64(i)+1)
		}
		must(t, "Send", s.Send(t.Context(), burst...))
		p.write(t, cp)
	}
	arrivals, now, err := s.RunsWithMessages(t.Context(), 0)
	must(t, "RunsWithMessages", err)
	same(t, "arrivals", []backend.Arrival{{Run: "b", Wakeups: 1}}, arrivals)
	must(t, "Send", s.Send(t.Context(), burst[0]))
	arrivals, _, err = s.RunsWithMessages(t.Context(), now)
	must(t, "RunsWithMessages", err)
	same(t, "arrivals", []backend.Arrival{{Run: "a", Wakeups: messages + 1}}, arrivals)
}

// testRaceRunsWithMessages makes an owner of many runs wait for messages from several senders. It misses none.
func testRaceRunsWithMessages(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	const runs = 5
	seen := map[string]int64{}
	for i := range runs {
		id := fmt.Sprint("run", i)
		create(t, s, run(id))
		begin(t, s, id)
		seen[id] = 0
	}
	each := int64(rounds())
	var senders sync.WaitGroup
	for i, sender := range stores {
		senders.Go(func() {
			for n := range each {
				id := fmt.Sprint("run", (int64(i)+n)%runs)
				if err := sender.Send(t.Context(), storage.Message{Run: id, Kind: "signal"}); err != nil {
					t.Errorf("Send: %v", err)
				}
			}
		})
	}
	defer senders.Wait()
	total, asked := int64(0), 0
	for now := int64(0); total < 2*each; asked++ {
		changed := s.Changed()
		arrivals, then, err := s.RunsWithMessages(t.Context(), now)
		must(t, "RunsWithMessages", err)
		now = then
		for _, r := range arrivals {
			total += max(0, r.Wakeups-seen[r.Run])
			seen[r.Run] = max(seen[r.Run], r.Wakeups)
		}
		if total == 2*each {
			break
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Second): // a notification was lost
			t.Fatalf("heard of %d messages of %d", total, 2*each)
		}
	}
	t.Logf("%d messages, asked %d times", total, asked)
}
