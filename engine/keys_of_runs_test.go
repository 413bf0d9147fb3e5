package engine_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// payments are tasks that note their keys.
type payments struct {
	mu   sync.Mutex
	keys []string
}

func (p *payments) pay(ctx context.Context, _ struct{}) (struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, atom.IdempotencyKey(ctx))
	return struct{}{}, nil
}

// atom is an atom of that task.
func (p *payments) atom() *atom.Atom { return atom.Func("Pay", p.pay) }

// Task implements [engine.Tasks].
func (p *payments) Task(string) (atom.Body, error) { return p.atom().Body(), nil }

// paying is a machine that pays, in a branch of a Parallel state if it is branched.
func paying(t *testing.T, branched bool) flow.Node {
	t.Helper()
	text := `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "local:pay", "End": true}}}`
	if branched {
		text = `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [` + text + `]}}}`
	}
	m, err := asl.Parse("paying", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// TestKeysOfRuns: two runs never send the same key, though the id of one looks like a path of the other. Keys of names
// without special characters stay as they were, also those of child runs.
//
// Guarantee (G2): Two runs never send the same key, even if the ID of one looks like a path of the other.
func TestKeysOfRuns(t *testing.T) {
	t.Parallel()
	var paid payments
	items, store := atom.NewKey[[]string]("items"), memstore.New()
	run := func(id string, root flow.Node, opts ...engine.Option) {
		e := newEngine(t, root, append(opts, engine.WithStore(store), engine.WithInputs(engine.AnyInput))...)
		if _, err := e.Run(t.Context(), id, engine.Input(map[string][]string{"items": {"a"}})); err != nil {
			t.Fatal(err)
		}
	}
	for id, branched := range map[string]bool{"q": true, "q/P[0]": false} {
		run(id, paying(t, branched), engine.WithTasks(&paid))
	}
	nested := func(names ...string) flow.Node {
		parts := make([]flow.Node, len(names))
		for i, name := range names {
			parts[i] = flow.Run[struct{}, struct{}](name, flow.Linear(name+"s", paid.atom()))
		}
		return flow.Linear("f", parts...)
	}
	run("o", nested("ship"))
	store = memstore.New() // another database, the same receiver
	run("o/ship", flow.Linear("g", paid.atom()))
	run("h", nested("Ship[0]"))
	run("n", flow.Linear("f", nested("ship"), atom.Func("ship/Pay", paid.pay)))
	run("each", flow.Each("pick", items, flow.Linear("b", paid.atom())))
	slices.Sort(paid.keys)
	want := []string{
		"each/pick/0/Pay/0", "h%2FShip[0]/Pay/0", "n%2Fship/Pay/0", "n/ship/Pay/0",
		"o%2Fship/Pay/0", "o/ship/Pay/0", "q%2FP[0]/Pay/0", "q/P[0]/Pay/0",
	}
	if diff := cmp.Diff(want, paid.keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// TestKeyOfAnEarlierVersion: a run that an earlier version created keeps the key that it may have sent.
//
// Guarantee (G7): An upgrade does not change the idempotency keys of a run that was created before.
func TestKeyOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ebb.db")
	store, err := sqlstore.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // of a test
	var paid payments
	e := newEngine(t, flow.Linear("g", paid.atom()), engine.WithStore(store))
	for _, id := range []string{"q/old", "q/new"} {
		if err := e.Start(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // of a test
	if _, err := db.ExecContext(t.Context(), `UPDATE origins SET secrets = NULL WHERE id = 'q/old'`); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"q/old", "q/new"} {
		if _, err := e.Run(t.Context(), id, engine.Existing()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"q/old/Pay/0", "q%2Fnew/Pay/0"}, paid.keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// TestChildIDsFit: a run whose id is as long as possible has children, as have runs that are nested deep.
func TestChildIDsFit(t *testing.T) {
	t.Parallel()
	items, names := atom.NewKey[[]int]("items"), make([]int, 12)
	done := 0
	leaf := func() flow.Node {
		return flow.Linear("leaf", atom.Func("x", func(context.Context, struct{}) (struct{}, error) {
			done++
			return struct{}{}, nil
		}))
	}
	deep := leaf()
	for i := range 200 {
		deep = flow.Linear("level "+strconv.Itoa(i), flow.Run[struct{}, struct{}]("d"+strconv.Itoa(i), deep))
	}
	root := flow.Linear("f", flow.Run[struct{}, struct{}]("ship", leaf()),
		flow.Each("each", items, flow.Linear("item", flow.Run[struct{}, struct{}]("in", leaf()))).WithParallelism(1), deep)
	store := memstore.New()
	e := newEngine(t, root, engine.WithStore(store), engine.WithInputs(items))
	for n := backend.MaxID - 12; n <= backend.MaxID; n += longtest.Count(6, 2, 1) {
		done = 0
		if _, err := e.Run(t.Context(), strings.Repeat("r", n), engine.With(items, names)); err != nil || done != 14 {
			t.Errorf("a run with an id of %d bytes did %d atoms: %v", n, done, err)
		}
	}
}

// TestChildIDsOfMapsFit nests four distributed Maps, whose names are as long as the language allows.
func TestChildIDsOfMapsFit(t *testing.T) {
	t.Parallel()
	states := `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "local:pay", "End": true}}`
	for i := range 4 {
		name := strings.Repeat(strconv.Itoa(i), 80)
		states = `{"StartAt": "` + name + `", "States": {"` + name + `": {"Type": "Map", "End": true, "ItemsPath": "$.items",
			"ItemSelector": {"items": [1, 2]},
			"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, ` + states[1:] + `}}}`
	}
	m, err := asl.Parse("nested", []byte(states+"}"))
	if err != nil {
		t.Fatal(err)
	}
	var paid payments
	store := memstore.New()
	e := newEngine(t, m.Flow(), engine.WithStore(store), engine.WithTasks(&paid), engine.WithParallelism(1),
		engine.WithCatalog(flows{"nested": m.Flow()}))
	if _, err := e.Run(t.Context(), "n4", engine.Input(atom.FromJSON([]byte(`{"items": [1, 2]}`)))); err != nil || len(paid.keys) != 16 {
		t.Errorf("%d items: %v", len(paid.keys), err)
	}
}
