package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

const twoEvents = `{"name": "m", "version": "1", "events": [{"name": "first"}, {"name": "second"}, {"name": "out"}],
"states": [
 {"name": "A", "start": true, "transitions": [{"nextState": "B", "eventGroups": [{"events": ["first"], "resultHandler": "${ .log += [$value.data] }"}],
   "action": {"type": "sendEvent", "event": "out", "expression": "${ 1 }"}}]},
 {"name": "B", "transitions": [{"nextState": "C", "eventGroups": [{"events": ["second"], "resultHandler": "${ .log += [$value.data] }"}]},
   {"nextState": "Late", "timeout": "PT1H"}]},
 {"name": "C"}, {"name": "Late"}]}`

// TestEventIsOneCommit kills the process at each commit and checks the stored records. An event is in the run's inbox
// without an effect, or in the machine's inbox, or its transition was taken and sent its messages. The second event
// arrives first, and is kept.
//
// Guarantee (State Machines For Cloud): After a death at each commit, an event is in the inbox, or was taken together
// with its effect.
func TestEventIsOneCommit(t *testing.T) {
	t.Parallel()
	m, err := sm4c.Parse("m", []byte(twoEvents))
	if err != nil {
		t.Fatal(err)
	}
	deaths := 0
	for _, after := range []bool{false, true} {
		for commit := 1; ; commit++ {
			died := false
			synctest.Test(t, func(t *testing.T) { died = eventsWithDeath(t, m, death{commit, after}) })
			if !died {
				break
			}
			deaths++
		}
	}
	t.Logf("%d deaths", deaths)
	if deaths < 6 {
		t.Errorf("there were %d places to die; want more", deaths)
	}
}

func eventsWithDeath(t *testing.T, m *sm4c.Machine, at death) (died bool) {
	t.Helper()
	records := memstore.New()
	ctx := t.Context()
	for process := 0; ; process++ {
		d := dies(records.Join(), forever)
		if process == 0 {
			d = at.of(d.Store)
		}
		eng, err := engine.New(m.Flow(), d, engine.WithCheckpoints(engine.Each))
		if err != nil {
			t.Fatal(err)
		}
		if process == 0 {
			if err := eng.Start(ctx, "r", engine.Input(atom.FromJSON([]byte("{}")))); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"second", "first"} {
				l := storage.Message{Run: "r", Kind: grow.MessageSignal, Name: name, Key: name, Body: atom.MustEncode(name)}
				if err := records.Send(ctx, l); err != nil {
					t.Fatal(err)
				}
			}
		}
		res, err := eng.Run(ctx, "r", engine.Unload())
		wholeEvents(t, m, records)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if errors.Is(err, errDied) {
			died = true
			continue
		}
		if err != nil || res.Output().String() != `{"log":["first","second"]}` {
			t.Fatalf("death %+v: it ended with %v and %v", at, err, res)
		}
		return died
	}
}

// wholeEvents fails the test if an event is lost or stored twice.
func wholeEvents(t *testing.T, m *sm4c.Machine, s backend.Store) {
	t.Helper()
	ctx := t.Context()
	run, err := s.Run(ctx, "r")
	if err != nil {
		t.Fatal(err)
	}
	_, messages, err := s.Messages(ctx, "r", 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Outgoing(ctx, run.Updated, 0)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.History(ctx, "r", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for i := range entries {
		told[entries[i].Type]++
	}
	consumed, inbox, state := told["EventConsumed"], 0, "C"
	if told["MachineCompleted"] == 0 && len(run.Memory) > 0 {
		why, err := m.Why(run.Memory)
		if err != nil {
			t.Fatal(err)
		}
		state, inbox = why.State, why.Inbox
	}
	if told["TransitionTaken"] != consumed {
		t.Errorf("%d events were consumed, and %d transitions taken", consumed, told["TransitionTaken"])
	}
	if len(messages)+inbox+consumed != 2 {
		t.Errorf("in %s: %d events are in the run's inbox, %d in the machine's, %d were consumed; want 2 together", state, len(messages), inbox, consumed)
	}
	if sent := len(out); sent != min(consumed, 1) {
		t.Errorf("in %s %d messages were sent", state, sent)
	}
}
