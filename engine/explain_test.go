package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata; read the diff")

// itinerary is a flow whose payment fails after two bookings, one of which cannot be
// undone.
func itinerary() flow.Node {
	search := atom.Untyped("search", func(context.Context, atom.Values) (any, error) {
		time.Sleep(time.Second)
		return "Oslo", nil
	}, nil, atom.Requires("wish"), atom.Provides("place"))
	flight := atom.Untyped("flight", func(context.Context, atom.Values) (any, error) { return "f-1", nil },
		func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) {
			return nil, errors.New("not refundable")
		},
		atom.Requires("place"), atom.Optional("seat"), atom.Provides("flight"))
	hotel := atom.Untyped("hotel", func(context.Context, atom.Values) (any, error) {
		return map[string]string{"code": "4711", "name": "Inn"}, nil
	},
		func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) { return "undone", nil },
		atom.Requires("place"), atom.ProvidesFields("code", "name"), atom.Secret("code"))
	pay := atom.Untyped("pay", func(context.Context, atom.Values) (any, error) {
		return nil, atom.Errorf("Card.Declined", "no money")
	}, nil, atom.Requires("card", "name", "code"), atom.Inject("currency", "NOK"), atom.Rebind("in", "currency"), atom.Secret("card"))
	return flow.Linear("itinerary", search, flow.Unordered("book", flight, hotel),
		flow.Linear("payment", pay).WithRetry(atom.Times(2, atom.Backoff{})))
}

// TestExplain compares the explanations of failed runs with golden files.
func TestExplain(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("trip", []byte(`{"StartAt":"Search","States":{
		"Search":{"Type":"Task","Resource":"do:search","ResultPath":"$.place","Next":"Both"},
		"Both":{"Type":"Parallel","Next":"Pay","ResultPath":"$.bookings","Branches":[
			{"StartAt":"Hotel","States":{"Hotel":{"Type":"Task","Resource":"do:hotel","Revert":"do:cancel","End":true}}},
			{"StartAt":"Flight","States":{"Flight":{"Type":"Task","Resource":"do:flight","Next":"Seat"},
				"Seat":{"Type":"Task","Resource":"fail:seat","End":true}}}]},
		"Pay":{"Type":"Task","Resource":"do:pay","End":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	each, err := asl.Parse("each", []byte(`{"StartAt":"Legs","States":{
		"Legs":{"Type":"Pass","Result":[1,2],"Next":"Each"},
		"Each":{"Type":"Map","Next":"Pay","ItemProcessor":{"StartAt":"Flight","States":{
			"Flight":{"Type":"Task","Resource":"do:flight","End":true}}}},
		"Pay":{"Type":"Task","Resource":"fail:pay","End":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	input := engine.Input(atom.MustEncode(map[string]any{"wish": "north", "card": "4711-0815"}))
	symbols := []engine.Option{engine.WithInputs(atom.NewKey[string]("wish"), atom.NewKey[string]("card"))}
	overdue := flow.Linear("overdue", atom.Func("a", func(context.Context, struct{}) (int, error) { panic("boom") }))
	for name, tc := range map[string]struct {
		flow    flow.Node
		opts    []engine.Option
		without bool // the flow
	}{
		"itinerary":                  {itinerary(), symbols, false},
		"itinerary-without-the-flow": {itinerary(), symbols, true},
		"language":                   {m.Flow(), nil, true},
		"map":                        {each.Flow(), nil, true},
		"success":                    {flow.Linear("f"), nil, false},
		"panic":                      {overdue, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				opts := append(slices.Clone(tc.opts), engine.WithTasks(&world{}), engine.WithParallelism(1))
				eng, err := engine.New(tc.flow, memstore.New(), opts...)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = eng.Run(t.Context(), "r", input)
				text, err := inspect.Explain(t.Context(), eng.Store(), "r", eng.Plan())
				if tc.without {
					text, err = inspect.Explain(t.Context(), eng.Store(), "r")
				}
				if err != nil {
					t.Fatal(err)
				}
				if name == "panic" {
					text = upToStack(text)
				}
				golden(t, filepath.Join("testdata", "explain-"+name+".txt"), text)
			})
		})
	}
	if _, err := inspect.Explain(t.Context(), memstore.New(), "r"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
}

// upToStack removes the stack, which changes with every line of code.
func upToStack(text string) string {
	head, stack, _ := strings.Cut(text, "goroutine ")
	return head + fmt.Sprintf("and %t for a stack\n", strings.Contains(stack, "explain_test"))
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}
