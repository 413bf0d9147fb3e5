package draw_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata; read the diff")

type nothing = struct{}

func does(name string) *atom.Atom {
	return atom.Func(name, func(context.Context, nothing) (nothing, error) { return nothing{}, nil })
}

func undoes(name string) *atom.Atom {
	return atom.Pair(name, func(context.Context, nothing) (nothing, error) { return nothing{}, nil },
		func(context.Context, nothing, atom.Outcome[nothing]) error { return nil })
}

func planOf(t *testing.T, root flow.Node, inputs ...string) *flow.Plan {
	t.Helper()
	types := map[string]reflect.Type{}
	for _, input := range inputs {
		types[input] = nil
	}
	plan, err := flow.Compile(root, types)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// checkout has a decider into a task and one into a flow, and a retry.
func checkout() flow.Node {
	risk := atom.NewKey[float64]("risk")
	reserve, review := undoes("reserve"), does("manual-review")
	charge := flow.Linear("charge", undoes("charge-card")).WithRetry(atom.Times(3, atom.Constant(1),
		"CardNetwork.Timeout"))
	ship := flow.Unordered("ship", does("pack"), does("label"))
	return flow.Graph("checkout", reserve, charge, review, ship).
		Link(reserve, charge).
		Link(charge, review, flow.When(risk, func(r float64) bool { return r >= 0.8 })).
		Link(charge, ship, flow.When(risk, func(r float64) bool { return r < 0.8 }))
}

// groups are three atoms that three others wait for.
func groups() flow.Node {
	return flow.Linear("groups",
		flow.Unordered("first", does("a"), does("b"), does("c")),
		flow.Unordered("second", does("d"), does("e"), does("f")),
	)
}

// order runs an atom and a flow for each item of a list, another flow, and one that it does not wait for.
func order() flow.Node {
	type line struct {
		Box string `json:"box"`
	}
	lines := atom.NewKey[[]line]("lines")
	pack := flow.Linear("pack", undoes("wrap"), does("weigh"))
	ship := flow.Unordered("shipping", undoes("label"), does("call"))
	return flow.Linear("order", does("check"), flow.Each("picks", lines, undoes("pick")), flow.Each("packs", lines, pack),
		flow.Run[nothing, nothing]("ship", ship), flow.Run[nothing, string]("mail", does("send")).Detached(), does("close"))
}

// doubling is a flow that runs another one twice, which does the same, and so on.
func doubling(deep int) flow.Node {
	if deep == 0 {
		return flow.Linear("f0", does("work"))
	}
	name := fmt.Sprint("f", deep)
	return flow.Linear(name, flow.Run[nothing, nothing]("a", doubling(deep-1)), flow.Run[nothing, nothing]("b", doubling(deep-1)))
}

// TestUnfoldedIsBounded draws a flow within which 2,048 others run. Those that are not drawn are named.
func TestUnfoldedIsBounded(t *testing.T) {
	t.Parallel()
	v := draw.OfPlan(planOf(t, doubling(11)))
	if n := len(v.Nodes); n < 100 || n > 1500 {
		t.Errorf("%d nodes", n)
	}
	if !strings.Contains(draw.Mermaid(v), "runs flow f") {
		t.Error("it does not say what runs")
	}
}

// TestGrowingHasNoPicture draws a flow whose nodes are only known from its run.
func TestGrowingHasNoPicture(t *testing.T) {
	t.Parallel()
	grows := flow.Growing("g", unknown{})
	alone := draw.OfPlan(planOf(t, grows))
	child := draw.OfPlan(planOf(t, flow.Linear("f", flow.Run[nothing, nothing]("a", grows))))
	for want, v := range map[string]draw.View{"g: grows while it runs": alone, "a\nruns flow g": child} {
		if len(v.Nodes) != 1 || v.Nodes[0].Label != want {
			t.Errorf("got %+v; want %q", v.Nodes, want)
		}
	}
}

// unknown is a language that is not asked.
type unknown struct{ grow.Language }

// machine is a view that no plan gives.
func machine() draw.View {
	return draw.View{
		Title:  "trip",
		Groups: []draw.Group{{ID: "0", Label: "branch 0"}, {ID: "1", Label: "branch 1", In: "0"}},
		Nodes: []draw.Node{
			{ID: "start", Kind: draw.Start},
			{ID: "Enough?", Kind: draw.Choice, State: "SUCCESS"},
			{ID: "Wait", Kind: draw.Wait, In: "0", State: "RETRYING"},
			{ID: "Shape", Kind: draw.Compute, In: "1", State: "REVERTING"},
			{ID: "end", Kind: draw.End},
		},
		Edges: []draw.Edge{
			{From: "start", To: "Enough?"},
			{From: "Enough?", To: "Wait", Label: "1", Maybe: true},
			{From: "Enough?", To: "Shape", Label: "Default"},
			{From: "Shape", To: "end", Maybe: true},
		},
	}
}

// hostile tries to break out of its texts, and is broken in every way a view
// can be.
func hostile() draw.View {
	nasty := "a\"]; evil[\"`b`\\\n<script>&#quot; -->\r\x00"
	return draw.View{
		Title: nasty,
		Groups: []draw.Group{
			{ID: "x", Label: nasty, In: "x"},
			{ID: "y", In: "z"},
			{ID: "z", In: "y"},
			{ID: "x", In: "z"},
			{},
		},
		Nodes: []draw.Node{{ID: nasty, In: "x", State: nasty}, {ID: nasty, In: "y"}, {ID: "lost", In: "nowhere"}, {}},
		Edges: []draw.Edge{
			{From: nasty, To: "lost", Label: nasty},
			{From: "lost", To: "absent"},
			{From: "absent", To: "lost"},
		},
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	boot := draw.OfPlan(planOf(t, flow.Linear("boot-server", undoes("create-volume"), does("boot"))))
	for name, view := range map[string]draw.View{
		"boot":           boot,
		"boot-undone":    boot.Colored(map[string]string{"create-volume": "REVERTED", "boot": "FAILURE", "gone": "SUCCESS"}),
		"checkout":       draw.OfPlan(planOf(t, checkout(), "risk")),
		"groups":         draw.OfPlan(planOf(t, groups())),
		"single":         draw.OfPlan(planOf(t, does("alone"))),
		"order":          draw.OfPlan(planOf(t, order(), "lines")),
		"machine":        machine(),
		"hostile":        hostile(),
		"nothing at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for extension, text := range map[string]string{
				".mmd": draw.Mermaid(view), ".dot": draw.DOT(view), ".svg": draw.SVG(view, draw.SVGOptions{Bare: true}),
			} {
				golden(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+extension), text)
			}
		})
	}
	if boot.Nodes[0].State != "" {
		t.Error("coloring a view changes the view it was made from")
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%v (-update writes it)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-file +picture):\n%s", file, diff)
	}
}

// TestGroupsStaySmall: the edges between two groups are as many as their atoms,
// not as many as their pairs.
func TestGroupsStaySmall(t *testing.T) {
	t.Parallel()
	first, second := flow.Unordered("first"), flow.Unordered("second")
	for i := range 300 {
		first.Add(does(fmt.Sprintf("a%d", i)))
		second.Add(does(fmt.Sprintf("b%d", i)))
	}
	v := draw.OfPlan(planOf(t, flow.Linear("groups", first, second)))
	if len(v.Edges) != 600 || len(v.Nodes) != 601 {
		t.Errorf("%d nodes, %d edges", len(v.Nodes), len(v.Edges))
	}
}

func ExampleMermaid() {
	view := draw.View{
		Nodes: []draw.Node{
			{ID: "create-volume", Kind: draw.Undoable, State: "REVERTED"},
			{ID: "boot", State: "FAILURE"},
		},
		Edges: []draw.Edge{{From: "create-volume", To: "boot"}},
	}
	fmt.Print(draw.Mermaid(view))
	// Output:
	// flowchart TD
	//   n0[["create-volume<br/>REVERTED"]]
	//   n1["boot<br/>FAILURE"]
	//   n0 --> n1
	//   classDef FAILURE fill:#c92a2a,stroke:#7a1212,color:#ffffff
	//   class n1 FAILURE
	//   classDef REVERTED fill:#d0ebff,stroke:#1864ab,color:#000000
	//   class n0 REVERTED
}
