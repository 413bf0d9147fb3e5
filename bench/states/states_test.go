// Package states measures state machines in memory beside aws-local-stepfunctions,
// the best other implementation that could be run. run.sh fetches that and starts
// both.
package states

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

//go:embed workloads.json
var workloadsText []byte

// A workload is a machine with its input.
type workload struct {
	Name        string
	Transitions int
	Input       map[string]any
	Definition  map[string]any
	Branches    int // how often the one branch of the state All is there
	Items       int // how many items the input has
}

func workloads(tb testing.TB) []*workload {
	tb.Helper()
	var all []*workload
	if err := json.Unmarshal(workloadsText, &all); err != nil {
		tb.Fatal(err)
	}
	for _, w := range all {
		if w.Branches > 0 {
			state := w.Definition["States"].(map[string]any)["All"].(map[string]any)
			one := state["Branches"].([]any)[0].(map[string]any)
			var branches []any
			for i := range w.Branches { // names are unique in the whole machine
				inner := one["States"].(map[string]any)["B"]
				name := fmt.Sprintf("B%d", i)
				branches = append(branches, map[string]any{"StartAt": name, "States": map[string]any{name: inner}})
			}
			state["Branches"] = branches
		}
		if w.Items > 0 {
			items := make([]int, w.Items)
			for i := range items {
				items[i] = i
			}
			w.Input["items"] = items
		}
	}
	return all
}

// A runner runs a workload a number of times and returns how long it took.
type runner func(w, times int) time.Duration

// TestBesideNode runs both in turns and tells how much faster Ebb is.
func TestBesideNode(t *testing.T) {
	peer := os.Getenv("EBB_BESIDE_NODE")
	if peer == "" {
		t.Skip("run bench/states/run.sh, which fetches what this is measured beside")
	}
	all := workloads(t)
	node := startNode(t, peer, all)
	kept, quiet := ours(t, all), ours(t, all, engine.WithCheckpoints(engine.NoHistory))
	for i, w := range all {
		var ratios, quieter, speed []float64
		for range rounds {
			theirs := rate(w, node, i)
			speed = append(speed, theirs)
			ratios = append(ratios, rate(w, kept, i)/theirs)
			quieter = append(quieter, rate(w, quiet, i)/theirs)
		}
		t.Logf("%-18s node %7.0f transitions/s; Ebb %5.1f times that with history, %5.1f times without (medians of %d rounds)",
			w.Name, median(speed), median(ratios), median(quieter), rounds)
	}
}

const (
	rounds  = 9
	atLeast = 200 * time.Millisecond // that a measurement lasts
)

// rate returns the transitions a second.
func rate(w *workload, run runner, index int) float64 {
	for times := 1; ; times *= 2 {
		if took := run(index, times); took >= atLeast {
			return float64(w.Transitions*times) / took.Seconds()
		}
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// ours runs workloads in the store in memory.
func ours(t *testing.T, all []*workload, opts ...engine.Option) runner {
	t.Helper()
	machines := make([]*asl.Machine, len(all))
	inputs := make([]atom.Value, len(all))
	for i, w := range all {
		m, err := asl.Parse(w.Name, atom.MustEncode(w.Definition).JSON())
		if err != nil {
			t.Fatal(err)
		}
		machines[i], inputs[i] = m, atom.MustEncode(w.Input)
	}
	return func(w, times int) time.Duration {
		begun := time.Now()
		var eng *engine.Engine
		for i := range times {
			if i%100 == 0 { // what has ended is kept as long as the engine
				var err error
				if eng, err = engine.New(machines[w].Flow(), memstore.New(), opts...); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := eng.Run(context.Background(), strconv.Itoa(i), engine.Input(inputs[w])); err != nil {
				t.Fatal(err)
			}
		}
		return time.Since(begun)
	}
}

// startNode starts the other implementation: a process that runs what lines of input say, and answers with seconds.
func startNode(t *testing.T, peer string, all []*workload) runner {
	t.Helper()
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("peer.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(peer+"/peer.mjs", script, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(peer+"/workloads.json", text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "peer.mjs")
	cmd.Dir, cmd.Stderr = peer, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	answers := bufio.NewScanner(out)
	return func(w, times int) time.Duration {
		if _, err := fmt.Fprintln(in, w, times); err != nil {
			t.Fatal(err)
		}
		if !answers.Scan() {
			t.Fatal("node has ended")
		}
		var seconds float64
		if err := json.Unmarshal(bytes.TrimSpace(answers.Bytes()), &seconds); err != nil {
			t.Fatalf("node says %s", strings.TrimSpace(answers.Text()))
		}
		return time.Duration(seconds * float64(time.Second))
	}
}
