package storagetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// inboxOf returns the messages of a run without the fields that the store chose.
func inboxOf(tb testing.TB, s backend.Store, run string) []storage.Message {
	tb.Helper()
	_, messages, err := s.Messages(tb.Context(), run, 0)
	good(tb, err)
	return messages
}

func testMessagesByKey(t *testing.T, m Maker) {
	s := m.open(t)
	ctx := t.Context()
	good(t, s.Create(ctx, storage.Run{ID: "a", Flow: "f", Key: "k"}))
	good(t, s.Send(ctx, storage.Message{ToKey: "k", Kind: "signal", Name: "one"}))
	good(t, s.Send(ctx, storage.Message{Run: "a", ToKey: "k", Kind: "signal", Name: "two"}))
	for _, l := range []storage.Message{{ToKey: "other"}, {Run: "b", ToKey: "k"}} {
		if err := s.Send(ctx, l); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%+v was sent: %v", l, err)
		}
	}
	got := inboxOf(t, s, "a")
	if len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" || got[0].Run != "a" || got[0].ToKey != "" {
		t.Errorf("the run has the messages %+v", got)
	}

	// A message of the commit that continues a run reaches the successor.
	claim, _, err := s.Begin(ctx, "a")
	good(t, err)
	cp := lastOf(0)
	cp.Children = []storage.Run{{ID: "a~2", Flow: "f", Key: "k"}}
	cp.Messages = []storage.Message{{ToKey: "k", Kind: "signal", Name: "three"}, {ToKey: "other", Kind: "signal"}}
	good(t, s.Commit(ctx, claim, cp))
	if got := inboxOf(t, s, "a~2"); len(got) != 1 || got[0].Name != "three" {
		t.Errorf("the successor has the messages %+v", got)
	}
}

// Guarantee (Waiting and time): The sender of a message with a receipt learns once which run received it, or that none
// did.
// Also: `TestServerStore/RaceReceipts`, `engine: TestFamilyCrash` (deaths).
func testReceipts(t *testing.T, m Maker) {
	s := m.open(t)
	ctx := t.Context()
	note := atom.MustEncode(map[string]int{"n": 1})
	for _, run := range []storage.Run{
		{ID: "from", Flow: "f"}, {ID: "open", Flow: "f", Key: "k"}, {ID: "ended", Flow: "f"},
	} {
		good(t, s.Create(ctx, run))
	}
	claim, _, err := s.Begin(ctx, "ended")
	good(t, err)
	good(t, s.Commit(ctx, claim, lastOf(0)))
	claim, _, err = s.Begin(ctx, "from")
	good(t, err)
	cp := runningAt(0)
	for _, l := range []storage.Message{
		{Run: "open", Receipt: "arrives"},
		{ToKey: "k", Receipt: "arrives by key"},
		{Run: "ended", Receipt: "1"},
		{Run: "nobody", Receipt: "2"},
		{ToKey: "no key", Receipt: "3"},
		{Run: "ended", ToKey: "k", Receipt: "4"},
		{Run: "from", Receipt: "to itself"},
		{Run: "nobody"},
	} {
		l.Kind, l.Name, l.From, l.Note, l.Body = "signal", "go", "from", note, atom.MustEncode(l.Receipt)
		cp.Messages = append(cp.Messages, l)
	}
	good(t, s.Commit(ctx, claim, cp))
	got := inboxOf(t, s, "open")
	if len(got) != 2 || got[0].Receipt != "arrives" || got[0].From != "from" || string(got[1].Note) != string(note) {
		t.Errorf("the open run has the messages %+v", got)
	}
	got = inboxOf(t, s, "from")
	if len(got) != 5 || got[4].Receipt != "to itself" {
		t.Fatalf("the sender has the messages %+v", got)
	}
	for i, name := range []string{"1", "2", "3", "4"} {
		l := &got[i]
		if l.Kind != backend.MessageReceipt || l.Name != name || l.Body != nil || string(l.Note) != string(note) ||
			l.Failure == nil || l.Failure.Code != atom.CodeUndelivered || l.Receipt != "" {
			t.Errorf("receipt %d is %+v", i, l)
		}
	}

	// A run that has ended gets no receipt, and is not purged while it owes one.
	good(t, s.Send(ctx, storage.Message{Run: "ended", Kind: backend.MessageReceipt, Name: "late"}))
	if got := inboxOf(t, s, "ended"); len(got) > 0 {
		t.Errorf("the ended run has the messages %+v", got)
	}
	claim, _, err = s.Begin(ctx, "open")
	good(t, err)
	good(t, s.Commit(ctx, claim, lastOf(0)))
	if n, err := s.Purge(ctx, "open", "ended"); n != 1 || err != nil {
		t.Errorf("purged %d, %v; want the run that owes no receipt", n, err)
	}
	if err := s.Send(ctx, storage.Message{Run: "from", Receipt: "no sender"}); !errors.Is(err, storage.ErrInvalid) {
		t.Error("a receipt without a sender:", err)
	}
}

// testRaceReceipts ends a run while others send messages to it. Each message with a receipt is in the run's inbox, or
// was returned.
func testRaceReceipts(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	ctx := t.Context()
	good(t, s.Create(ctx, storage.Run{ID: "to", Flow: "f", Key: "k"}))
	good(t, s.Create(ctx, storage.Run{ID: "from", Flow: "f"}))
	ends, _, err := s.Begin(ctx, "to")
	good(t, err)
	sends, _, err := other.Begin(ctx, "from")
	good(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		for seq := range int64(5) {
			if err := s.Commit(ctx, ends, runningAt(seq)); err != nil {
				t.Error(err)
			}
		}
		if err := s.Commit(ctx, ends, lastOf(5)); err != nil {
			t.Error(err)
		}
	})
	const sent = 12
	for seq := range int64(sent) {
		cp := runningAt(seq)
		cp.Messages = []storage.Message{{ToKey: "k", Kind: "signal", From: "from", Receipt: "r"}}
		good(t, other.Commit(ctx, sends, cp))
	}
	group.Wait()
	if arrived, back := len(inboxOf(t, s, "to")), len(inboxOf(t, s, "from")); arrived+back != sent {
		t.Errorf("%d messages arrived and %d came back, of %d", arrived, back, sent)
	}
}
