package enginetest_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
)

// A depot is a world in which parcels are stored under the key of the call that stored them.
type depot struct {
	parcels map[string]string
	file    string // of its database, if it has one
}

type parcel struct {
	ID string `json:"id"`
}

// put stores a parcel. A bad depot forgets the key.
func (d *depot) put(careless bool) *atom.Atom {
	return atom.Pair("put", func(ctx context.Context, in parcel) (string, error) {
		d.parcels[atom.IdempotencyKey(ctx)] = in.ID
		return in.ID, nil
	}, func(ctx context.Context, _ parcel, did atom.Outcome[string]) error {
		if careless && did.Unknown() {
			return nil
		}
		delete(d.parcels, atom.IdempotencyKey(ctx))
		return nil
	})
}

var parcelsKey = atom.NewKey[[]parcel]("parcels")

func depots(f func(d *depot) flow.Node) enginetest.World[*depot] {
	return enginetest.World[*depot]{
		New:   func(testing.TB) *depot { return &depot{parcels: map[string]string{}} },
		Flow:  f,
		State: func(d *depot) any { return maps.Clone(d.parcels) },
		Options: func(*depot) []engine.Option {
			return []engine.Option{engine.With(parcelsKey, []parcel{{"a"}, {"b"}, {"c"}})}
		},
	}
}

// TestFailAtEach makes each item fail, and lets the process die in the middle of the list, where the run then resumes.
//
// Guarantee (Waiting and time): A list with a crash at any point ends as without it; with a failed item, it is undone.
// Also: `engine: TestScaleEachResumes`.
func TestFailAtEach(t *testing.T) {
	for name, body := range map[string]func(d *depot) flow.Node{
		"atom": func(d *depot) flow.Node { return d.put(false) },
		"flow": func(d *depot) flow.Node { return flow.Linear("one", d.put(false)) },
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.FailAt(t, depots(func(d *depot) flow.Node {
				return flow.Linear("order", flow.Each("stored", parcelsKey, body(d)))
			}))
		})
	}
}

// TestFailAtEachFindsWhatIsWrong finds a Revert that is wrong for one item.
func TestFailAtEachFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := &reporter{}
	enginetest.FailAt(r, depots(func(d *depot) flow.Node {
		return flow.Linear("order", flow.Each("stored", parcelsKey, d.put(true)))
	}))
	found := strings.Join(r.failures, "\n")
	for _, want := range []string{
		"FailAt/stored/1/unknown_after_effect: stored/1 was given up on, with its work done.",
		`Revert of stored/1, told unknown, left State["run/stored/1/0"]`,
	} {
		if !strings.Contains(found, want) {
			t.Errorf("did not find %q:\n%s", want, found)
		}
	}
}
