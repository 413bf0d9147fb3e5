package mailbox_test

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/engine/internal/mailbox"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestRead: up to where the inbox was read. A full page ends at its last message, because more may follow.
func TestRead(t *testing.T) {
	t.Parallel()
	full := make([]storage.Message, backend.MaxMessages)
	for i := range full {
		full[i] = storage.Message{N: int64(i) + 1, Kind: backend.MessageToken}
	}
	for _, c := range []struct {
		name    string
		wakeups int64
		page    []storage.Message
		want    int64
		more    bool
	}{
		{"nothing new", 5, nil, 5, false},
		{"a page", 5, messages(t, "4 token", "5 token"), 5, false},
		{"one committed since the counter was read", 5, messages(t, "6 token"), 6, false},
		{"a full page", 1 << 20, full, backend.MaxMessages, true},
	} {
		var b mailbox.Box
		if more := b.Add(c.wakeups, c.page); b.Read() != c.want || more != c.more || b.Empty() != (len(c.page) == 0) {
			t.Errorf("%s: read up to %d, more: %v", c.name, b.Read(), more)
		}
	}
}

// TestReleased: with which counter a run is released, so that what it has not received makes it due.
func TestReleased(t *testing.T) {
	t.Parallel()
	receipt := message(t, "3 signal")
	receipt.Receipt = "wanted"
	deferred := func(texts ...string) func(b *mailbox.Box) {
		return func(b *mailbox.Box) {
			for _, m := range messages(t, texts...) {
				b.Defer(&m)
			}
		}
	}
	for _, c := range []struct {
		name       string
		fill       func(b *mailbox.Box)
		rest, ends int64 // if the run rests, and if it has ended
	}{
		{"all received", func(*mailbox.Box) {}, 9, 9},
		{"a queue", func(b *mailbox.Box) { b.Queue(messages(t, "6 token", "7 token")) }, 5, 5},
		{"a given-up end", func(b *mailbox.Box) {
			b.Queue(messages(t, "6 token", "7 token"))
			b.Advance(func(m *storage.Message) bool { return m.N == 7 })
		}, 5, 5},
		{"an end before the queue", func(b *mailbox.Box) { m := message(t, "4 token"); b.AddEnd(&m) }, 3, 3},
		{"signals outlast the run", deferred("4 signal", "5 event"), 9, 9},
		{"others do not", deferred("4 signal", "5 note"), 9, 4},
		{"a receipt is sent anyway", func(b *mailbox.Box) {
			b.Note([]storage.Message{receipt})
			b.Defer(&receipt)
		}, 9, 9},
	} {
		var b mailbox.Box
		b.SetRead(9)
		c.fill(&b)
		if rest, ends := b.Released(false), b.Released(true); rest != c.rest || ends != c.ends {
			t.Errorf("%s: got %d, and %d at the end", c.name, rest, ends)
		}
	}
}

// TestDeferred: what nothing waits for stays until it is taken.
func TestDeferred(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	m := message(t, "4 signal")
	b.Defer(&m)
	if !b.Deferred() || len(b.TakeDeferred()) != 1 || b.Deferred() {
		t.Error("a message is lost, or comes twice")
	}
}

// TestReceipts: each message that wants a receipt has one, once.
func TestReceipts(t *testing.T) {
	t.Parallel()
	list := messages(t, "3 signal", "1 signal", "2 signal")
	list[0].Receipt, list[1].Receipt = "a", "b"
	var b mailbox.Box
	if _, wanted := b.Receipt(1); wanted {
		t.Error("a receipt for nothing")
	}
	b.Add(3, list)
	if got := b.Unreceived(); !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("got %v", got)
	}
	if _, wanted := b.Receipt(2); wanted {
		t.Error("nobody wants it")
	}
	if m, wanted := b.Receipt(3); !wanted || m.Receipt != "a" {
		t.Errorf("got %+v, %v", m, wanted)
	}
	if _, wanted := b.Receipt(3); wanted {
		t.Error("it comes twice")
	}
}
