package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func testMessages(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	full := storage.Message{
		Run: "a", Kind: "signal", Path: "x", Incarnation: 2, Name: "go", Key: "k1", Body: value(1),
		Failure: &atom.Failure{Code: "C"}, Sent: at(1),
	}
	must(t, "Send", s.Send(t.Context(), full, storage.Message{Run: "b", Kind: "cancel", Sent: at(1)}))
	must(t, "Send", s.Send(t.Context(),
		full, // the key exists
		storage.Message{Run: "a", Kind: "signal", Name: "again", Sent: at(2)},
		storage.Message{Run: "a", Kind: "signal", Name: "again", Sent: at(2)}, // no key: not recognized
		storage.Message{Run: "b", Kind: "signal", Key: "k1", Sent: at(2)},     // another run's key
	))
	full.N = 1
	box := []storage.Message{
		full,
		{N: 2, Run: "a", Kind: "signal", Name: "again", Sent: at(2)},
		{N: 3, Run: "a", Kind: "signal", Name: "again", Sent: at(2)},
	}
	expect := func(want []storage.Message, wantWakeups int64) {
		t.Helper()
		wakeups, messages, err := s.Messages(t.Context(), "a", 0)
		must(t, "Messages", err)
		same(t, "messages", want, messages)
		if wakeups != wantWakeups {
			t.Fatalf("the wakeup counter is at %d, want %d", wakeups, wantWakeups)
		}
	}
	expect(box, 3)
	p := begin(t, s, "a")
	same(t, "messages in the snapshot", box, p.snap.Messages)
	p.write(t, backend.Checkpoint{Taken: []int64{1, 3, 77}})
	expect(box[1:2], 3)
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Key: "k1", Sent: at(3)}))
	for _, c := range []struct {
		run, key string
		want     bool
	}{{"a", "k1", true}, {"b", "k1", true}, {"a", "k2", false}, {"none", "k1", false}} {
		if got := ask[bool](t, "Received")(s.Received(t.Context(), c.run, c.key)); got != c.want {
			t.Errorf("run %s has had a message %s: %v", c.run, c.key, got)
		}
	}
	expect(box[1:2], 3) // the store remembers a key after its message is gone
	p.write(t, backend.Checkpoint{Taken: []int64{2}, Messages: []storage.Message{
		{Run: "b", Kind: "signal", Name: "from a", Sent: at(4)},
		{Run: "b", Kind: "signal", Key: "k1", Sent: at(4)},
		{Run: "nobody", Kind: "signal"},
	}})
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Sent: at(5)}))
	expect([]storage.Message{{N: 4, Run: "a", Kind: "signal", Sent: at(5)}}, 4) // numbers are not used again
	if wakeups, messages, err := s.Messages(t.Context(), "b", 0); err != nil || wakeups != 3 ||
		messages[2].Name != "from a" {
		t.Errorf("b's wakeup counter is at %d, messages %+v, %v", wakeups, messages, err)
	}

	err := s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal"}, storage.Message{Run: "zz", Kind: "signal"})
	want(t, "Send to no run", err, storage.ErrNotFound)
	err = s.Send(t.Context(), storage.Message{Run: "a", Key: strings.Repeat("k", backend.MaxID+1)})
	want(t, "Send with an endless key", err, storage.ErrInvalid)
	expect([]storage.Message{{N: 4, Run: "a", Kind: "signal", Sent: at(5)}}, 4)

	must(t, "Send without a time", s.Send(t.Context(), storage.Message{Run: "b", Kind: "signal"}))
	_, messages, err := s.Messages(t.Context(), "b", 0)
	must(t, "Messages", err)
	if sent := messages[len(messages)-1].Sent; time.Since(sent) > time.Minute {
		t.Errorf("sent at %v", sent)
	}
	pageMessages(t, s)
	refusedMessages(t, s)
}

// refusedMessages sends what a run does not take. Nothing of a call is sent then.
func refusedMessages(t *testing.T, s backend.Store) {
	t.Helper()
	create(t, s, storage.Run{ID: "typed", Flow: "f", Structure: "types"})
	_, err := s.WriteRecords(t.Context(), storage.RecordWrite{
		Kind: awaited.RecordKind, Key: "types", Was: storage.AnyRevision,
		Body: atom.FromJSON([]byte(`{"a":{"signal":"go","value":{"type":"integer","format":"int"}}}`)),
	})
	must(t, "WriteRecords", err)
	message := func(name string, body atom.Value) storage.Message {
		return storage.Message{Run: "typed", Kind: "signal", Name: name, Body: body}
	}
	good := message("go", value(1))
	for _, bad := range []storage.Message{
		message("go", value("x")), message("other", atom.FromJSON([]byte("\"\xff\""))),
		message("other", atom.FromJSON([]byte("{"))),
	} {
		want(t, fmt.Sprintf("Send %q", bad.Body), s.Send(t.Context(), good, bad), storage.ErrInvalid)
	}
	must(t, "Send null, the default", s.Send(t.Context(), message("go", nil)))
	many := make([]storage.Message, backend.MaxInbox-1)
	for i := range many {
		many[i] = message("other", value("x"))
	}
	err = s.Send(t.Context(), append(slices.Clip(many), good)...)
	want(t, "Send more than an inbox holds", err, storage.ErrFull)
	must(t, "Send as many as an inbox holds", s.Send(t.Context(), many...))
	want(t, "Send one more", s.Send(t.Context(), good), storage.ErrFull)
	must(t, "Send a command", s.Send(t.Context(), storage.Message{Run: "typed", Kind: "cancel"}))
	all, first, err := s.Unread(t.Context(), "typed", 2)
	must(t, "Unread", err)
	if all != backend.MaxInbox+1 || len(first) != 2 || first[1].N != 2 || first[1].Name != "other" ||
		first[1].Body != nil {
		t.Errorf("%d unread: %+v", all, first)
	}
	_, _, err = s.Unread(t.Context(), "nobody", 1)
	want(t, "Unread of no run", err, storage.ErrNotFound)
}

// pageMessages reads an inbox of more than two pages.
func pageMessages(t *testing.T, s backend.Store) {
	t.Helper()
	const more = 2*backend.MaxMessages + 1
	create(t, s, run("pages"))
	many := make([]storage.Message, more)
	for i := range many {
		many[i] = storage.Message{Run: "pages", Kind: "signal", Sent: at(1)}
	}
	must(t, "Send", s.Send(t.Context(), many...))
	after := int64(0)
	for _, want := range []int{backend.MaxMessages, backend.MaxMessages, 1, 0} {
		wakeups, page, err := s.Messages(t.Context(), "pages", after)
		must(t, "Messages", err)
		if len(page) != want || wakeups != more {
			t.Fatalf("%d messages after %d, want %d; the wakeup counter is at %d", len(page), after, want, wakeups)
		}
		for i := range page {
			if after++; page[i].N != after {
				t.Fatalf("message %d has number %d", after, page[i].N)
			}
		}
	}
	_, all, err := backend.AllMessages(t.Context(), s, "pages")
	if must(t, "AllMessages", err); len(all) != more {
		t.Errorf("%d messages, want %d", len(all), more)
	}
}
