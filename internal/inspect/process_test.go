package inspect_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// withOwners is a store that knows further owners.
type withOwners struct {
	backend.Store

	more []storage.Owner
}

func (s withOwners) Owners(ctx context.Context) ([]storage.Owner, error) {
	owners, err := s.Store.Owners(ctx)
	return append(s.more, owners...), err
}

// TestProcesses: a process is shown with what its owner's row, its server's record and its own record say, and how many
// runs it drives. A record that cannot be read hides nothing else.
func TestProcesses(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	other := s.Join()
	defer func() { _ = s.Close() }()
	defer func() { _ = other.Close() }()
	for _, id := range []string{"a", "b"} {
		if err := s.Create(t.Context(), storage.Run{ID: id, Flow: "trip"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Begin(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	write := func(kind, key string, body any) {
		t.Helper()
		record := storage.RecordWrite{Kind: kind, Key: key, Was: storage.AnyRevision, Body: atom.MustEncode(body)}
		if _, err := s.WriteRecords(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	id, since := s.Owner().ID, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	write(engine.PresenceRecords, "one", engine.Presence{Owner: id, Slots: 7, Busy: "slots", Offers: map[string]string{"gpu": "a"}})
	write(engine.PresenceRecords, "two", engine.Presence{Owner: id, Slots: 3, Offers: map[string]string{"gpu": "a"}})
	write(inspect.ProcessRecords, id, inspect.ProcessRecord{
		Version: "v1", Revision: "abc", Address: "0.0.0.0:8083", Fault: "disk_full", Since: since,
	})
	write(inspect.ProcessRecords, other.Owner().ID, 7)
	write(inspect.ProcessRecords, "gone", inspect.ProcessRecord{Version: "v0"})
	got, err := inspect.Processes(t.Context(), withOwners{s, []storage.Owner{
		{ID: "gone", Host: "b", PID: 2}, {ID: "left", Host: "a", PID: 1, Ended: true}, {ID: "held", Host: "!", PID: 3, Alive: true, Stopped: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o, p := s.Owner(), other.Owner()
	want := []inspect.Process{
		{Host: "!", PID: 3, State: "stopped"},
		{
			Host: o.Host, PID: o.PID, State: "alive", Started: o.Started, Runs: 2, Serves: true, Slots: 10, Busy: "slots",
			Offers: map[string]string{"gpu": "a"}, Version: "v1", Revision: "abc", Address: "0.0.0.0:8083", Fault: "disk_full", Since: since,
		},
		{Host: p.Host, PID: p.PID, State: "alive", Started: p.Started},
		{Host: "a", PID: 1, State: "ended"},
		{Host: "b", PID: 2, State: "died", Version: "v0"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(inspect.Process{}, "Seen")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
