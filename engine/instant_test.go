package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// computing is a machine of two tasks with computing states between them.
func computing(t *testing.T, between int) *asl.Machine {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "go:a", "Next": "S0"}, `)
	for i := range between {
		fmt.Fprintf(&b, `"S%d": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)", "id.$": "$.id"}, "Next": "S%d"}, `, i, i+1)
	}
	fmt.Fprintf(&b, `"S%d": {"Type": "Task", "Resource": "go:b", "End": true}}}`, between)
	m, err := asl.Parse("computing", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A passage says how a chain ran on SQLite.
type passage struct {
	commits int
	calls   []string
	output  string
	events  []string // of its history
}

// counting are tasks that count and report their calls.
type counting struct{ calls []string }

// Task implements [engine.Tasks].
func (c *counting) Task(name string) (atom.Body, error) { return counter{c, name}, nil }

type counter struct {
	*counting

	name string
}

func (c counter) Execute(_ context.Context, in atom.Values) (atom.Value, error) {
	c.calls = append(c.calls, c.name)
	var data struct {
		N int `json:"n"`
	}
	err := in.Input().Decode(&data)
	return atom.MustEncode(map[string]any{"id": "a", "n": data.N + 1}), err
}

func (counter) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, nil
}

func (counter) Reverts() bool { return false }

// pass runs a chain in a file, with deaths after the given numbers of commits, and resumes it.
func pass(t *testing.T, m *asl.Machine, deaths ...int) passage {
	t.Helper()
	file := "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")
	var p passage
	w := &counting{}
	for i := 0; ; i++ {
		store, err := sqlstore.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		process := dies(store, forever)
		if i < len(deaths) {
			process = dies(store, deaths[i])
		}
		begun := process.left.Load()
		eng, err := engine.New(m.Flow(), process, engine.WithTasks(w))
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"n": 0}`))))
		p.commits += int(begun - process.left.Load())
		if err == nil {
			p.output, p.calls = res.Output().String(), w.calls
			entries, err := store.History(t.Context(), "r", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for j := range entries {
				if e := &entries[j]; e.Type != "" {
					p.events = append(p.events, fmt.Sprintf("%d<%d %s %s", e.Number, e.Prev, e.Type, e.Path))
				}
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			return p
		}
		if !errors.Is(err, errDied) {
			t.Fatal(err)
		}
	}
}

// TestInstantStates shows that computing states share the commit that starts the next task. A chain of 300 between two
// tasks takes no additional commit on SQLite. At each commit, the test lets the process die. The run then resumes, ends
// in the same way with the same history, and repeats no task whose end was committed.
func TestInstantStates(t *testing.T) {
	t.Parallel()
	none, many := computing(t, 0), computing(t, 300)
	without, with := pass(t, none), pass(t, many)
	if with.commits != without.commits {
		t.Errorf("%d commits with 300 states between the tasks, %d with none", with.commits, without.commits)
	}
	if with.output != `{"id":"a","n":302}` {
		t.Errorf("output %s", with.output)
	}
	for death := range with.commits {
		got := pass(t, many, death)
		if diff := cmp.Diff(with.events, got.events); diff != "" || got.output != with.output {
			t.Errorf("death after %d commits: %s (-alone +died):\n%s", death, got.output, diff)
		}
		if again := len(got.calls) - len(slices.Compact(slices.Clone(got.calls))); again > 1 {
			t.Errorf("death after %d commits: calls %v", death, got.calls)
		}
	}
}
