package definition

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// branchID returns the ID of the frame around a branch of a state; "" for what
// is at the top.
func branchID(state string, branch int) string {
	if state == "" {
		return ""
	}
	return fmt.Sprintf("%s[%d]", stateID(state), branch)
}

// joinID returns the ID of the node where the branches of a state meet.
func joinID(state string) string { return "join " + state }

func forks(info *asl.StateInfo) bool { return info.Type == "Parallel" || info.Type == "Map" }

// Picture implements [Machine].
func (m *aslMachine) Picture(title string) draw.View {
	v := emptyPicture(title)
	list := m.States()
	within := make(map[string]string, len(list)) // the frame each state is in
	for i := range list {
		within[list[i].Name] = branchID(list[i].In, list[i].Branch)
	}
	framed := map[string]bool{"": true}
	for i := range list {
		info := &list[i]
		frame := within[info.Name]
		if !framed[frame] {
			framed[frame] = true
			v.Groups = append(v.Groups, draw.Group{ID: frame, Label: info.In, In: within[info.In]})
		}
		v.Nodes = append(v.Nodes, draw.Node{ID: stateID(info.Name), Label: info.Name, Kind: nodeKind(info), In: frame})
		if forks(info) {
			v.Nodes = append(v.Nodes, draw.Node{ID: joinID(info.Name), Kind: draw.Junction, In: frame})
		}
		v.Edges = append(v.Edges, edgesOf(info)...)
	}
	return v
}

// edgesOf returns the edges that lead to a state that its level starts with, and from the state.
func edgesOf(info *asl.StateInfo) []draw.Edge {
	var edges []draw.Edge
	if info.Start {
		from := startID
		if info.In != "" {
			from = stateID(info.In)
		}
		edges = append(edges, draw.Edge{From: from, To: stateID(info.Name)})
	}
	from := stateID(info.Name)
	done := from
	if forks(info) {
		done = joinID(info.Name)
	}
	for _, next := range info.Next {
		e := draw.Edge{From: done, To: stateID(next.To), Label: next.Label, Maybe: next.Label != ""}
		if next.Catch {
			e.From = from
		}
		same := slices.IndexFunc(edges, func(other draw.Edge) bool { // rules with the same end are one edge
			return other.From == e.From && other.To == e.To && other.Maybe && e.Maybe && info.Type == "Choice"
		})
		if same >= 0 {
			edges[same].Label += " or " + e.Label
			continue
		}
		edges = append(edges, e)
	}
	if info.End && (info.In == "" || info.Type != "Fail") {
		to := endID
		if info.In != "" {
			to = joinID(info.In)
		}
		edges = append(edges, draw.Edge{From: done, To: to})
	}
	return edges
}

// take records that the run took the edges between two nodes.
func take(picture draw.View, taken map[draw.Edge]bool, from, to string) {
	for _, e := range picture.Edges {
		if e.From == from && e.To == to {
			taken[e] = true
		}
	}
}

// A course records how a run went through the picture of a machine.
type course struct {
	forks map[string]bool   // the states that have branches
	in    map[string]string // the states around the states
	last  map[string]string // status of each node, by its ID
	taken map[step]bool     // steps that the run took
	at    places
	fold  fold
	items fold // status of the runs of the items of distributed Maps, by the IDs of the frames
}

// A step leads from one node to another, by their IDs.
type step struct {
	from, to string
	caught   bool
}

// stepOf returns the step that an edge shows.
func stepOf(e draw.Edge) step {
	return step{e.From, e.To, e.Maybe && strings.HasPrefix(e.Label, "Catch ")}
}

// Became implements [Machine].
func (m *aslMachine) Became(picture draw.View, history iter.Seq2[storage.Entry, error]) (draw.View, error) {
	c := &course{
		forks: map[string]bool{}, in: map[string]string{}, last: map[string]string{}, taken: map[step]bool{}, at: places{},
		fold: fold{at: map[visited]string{}}, items: fold{at: map[visited]string{}},
	}
	distributed := map[string]bool{}
	for _, info := range m.States() {
		c.forks[info.Name], c.in[info.Name] = forks(&info), info.In
		distributed[info.Name] = info.Distributed
	}
	tracer := m.Tracer()
	for e, err := range history {
		switch {
		case err != nil:
			return picture, err
		case e.Kind == storage.EntryEvent:
			for _, v := range inspect.Traced(tracer, &e) {
				c.visit(&v)
			}
		case e.Status() != "" && e.Path != flow.GrowingPath:
			if around := forkOf(e.Path); distributed[around] { // a run of the item visits the states
				c.items.add(branchID(around, 0), e.Path, string(e.Status()))
			} else {
				c.atom(&e)
			}
		}
	}
	taken := map[draw.Edge]bool{}
	for _, e := range picture.Edges {
		taken[e] = c.taken[stepOf(e)]
	}
	counts, worst := c.fold.texts(2)
	picture = picture.Colored(c.last).Colored(worst).Counted(counts).Along(taken)
	c.at.in(picture.Nodes) // Colored has copied them
	picture.Groups = slices.Clone(picture.Groups)
	counts, _ = c.items.texts(1)
	for i := range picture.Groups {
		if g := &picture.Groups[i]; counts[g.ID] != "" {
			g.Label += ", runs of items: " + counts[g.ID]
		}
	}
	return picture, nil
}

// forkOf returns the name of the state in whose branch an atom is; "" if it is in none.
func forkOf(path string) string {
	above, _ := inspect.CutPath(path)
	if fork, _, is := nodepath.CutIndex(above); is {
		return nodepath.State(nodepath.Last(fork))
	}
	return ""
}

func (c *course) atom(e *storage.Entry) {
	if _, name := inspect.CutPath(e.Path); !strings.HasPrefix(name, "[") {
		c.became(nodepath.State(nodepath.Last(e.Path)), e.Path, string(e.Status()))
	}
}

// became records the status of a visit of a state.
func (c *course) became(state, path, status string) {
	id := stateID(state)
	c.last[id] = status
	c.at.add(id, path)
	c.fold.add(id, path, status)
}

func (c *course) visit(v *grow.Visit) {
	if v.State == "" {
		return
	}
	id := stateID(v.State)
	done := id
	if c.forks[v.State] {
		done = joinID(v.State)
	}
	switch v.Stage {
	case grow.VisitEntered:
		from := startID
		switch around := c.in[v.State]; {
		case v.From != "" && (v.Caught || !c.forks[v.From]):
			from = stateID(v.From)
		case v.From != "":
			from = joinID(v.From)
		case around != "":
			from = stateID(around)
		}
		c.taken[step{from, id, v.Caught}] = true
		c.became(v.State, v.Path, states.TaskRunning.String())
	case grow.VisitLeft:
		if v.Caught {
			c.became(v.State, v.Path, states.TaskFailure.String())
			return
		}
		c.became(v.State, v.Path, states.TaskSuccess.String())
		c.taken[step{done, endID, false}] = true // if there is such an edge
		c.taken[step{done, joinID(c.in[v.State]), false}] = true
		if done != id {
			c.last[done] = c.last[id]
		}
	case grow.VisitFailed:
		c.became(v.State, v.Path, states.TaskFailure.String())
	case grow.VisitAborted:
		c.became(v.State, v.Path, states.TaskCancelled.String())
	default:
	}
}
