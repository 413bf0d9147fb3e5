package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

var graphFormats = []string{"mermaid", "dot"}

func (s *session) graphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph FILE|RUN",
		Short: "Draw a definition, or what became of it in a run",
		Long: `Draw a definition as text for Mermaid or Graphviz. Given the id of a run, its
definition is drawn in the colours of what became of each state.`,
		Example: `  ebb graph trip.asl.json > trip.mmd
  ebb graph --format dot trip-k3v9x2ab | dot -Tsvg > trip.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", format, graphFormats); err != nil {
				return err
			}
			view, err := s.view(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text := draw.Mermaid(view)
			if format == "dot" {
				text = draw.DOT(view)
			}
			_, err = fmt.Fprint(s.out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", graphFormats[0], strings.Join(graphFormats, " or "))
	return cmd
}

// view returns the picture of a file, or of a run when there is no such file.
func (s *session) view(ctx context.Context, what string) (view draw.View, err error) {
	if _, err := os.Stat(what); err == nil {
		def, err := readDefinition(what)
		if err != nil {
			return view, err
		}
		return picture(def.Name, def.machine), nil
	}
	err = s.reading(ctx, func(store storage.Store) error {
		run, err := findRun(ctx, store, what)
		if err != nil {
			return fmt.Errorf("there is no file %s, and %w", what, err)
		}
		j, err := s.journeyOf(ctx, store, &run)
		if err != nil {
			return err
		}
		history, err := store.History(ctx, run.ID, 0, 0)
		if err != nil {
			return unreachable(err)
		}
		view = picture(run.Flow+"  "+run.ID, j.machine).Coloured(became(history))
		return nil
	})
	return view, err
}

// became returns what became of each state last, by the ID of its node.
func became(history []storage.Entry) map[string]string {
	last := map[string]string{}
	for i := range history {
		e := &history[i]
		if e.Kind != storage.EntryAtom || e.Path == flow.GrowingPath {
			continue
		}
		if _, name := cutPath(e.Path); !strings.HasPrefix(name, "[") {
			last[stateID(withoutVisit(name))] = states.Task(e.To).String()
		}
	}
	return last
}

// withoutVisit cuts the number of a visit off a node's name: Pay for Pay#2.
func withoutVisit(name string) string {
	i := strings.LastIndexByte(name, '#')
	if i < 1 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name
	}
	return name[:i]
}

// The IDs of what is no state.
const (
	startID = "start"
	endID   = "end"
)

func stateID(name string) string { return "state " + name }

// branchID returns the ID of the frame around a branch of a state; "" for what
// is at the top.
func branchID(state string, branch int) string {
	if state == "" {
		return ""
	}
	return fmt.Sprintf("%s[%d]", stateID(state), branch)
}

// picture returns a machine as a view.
func picture(title string, m *asl.Machine) draw.View {
	v := draw.View{Title: title, Nodes: []draw.Node{{ID: startID, Label: "start", Kind: draw.Start}, {ID: endID, Label: "end", Kind: draw.End}}}
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
		if info.Start {
			from := startID
			if info.In != "" {
				from = stateID(info.In)
			}
			v.Edges = append(v.Edges, draw.Edge{From: from, To: stateID(info.Name)})
		}
		for _, next := range info.Next {
			v.Edges = append(v.Edges, draw.Edge{From: stateID(info.Name), To: stateID(next.To), Label: next.Label, Maybe: next.Label != ""})
		}
		if info.End && info.In == "" {
			v.Edges = append(v.Edges, draw.Edge{From: stateID(info.Name), To: endID})
		}
	}
	return v
}

func nodeKind(info *asl.StateInfo) draw.Kind {
	switch info.Type {
	case "Task":
		if info.Revert != "" {
			return draw.Undoable
		}
		return draw.Task
	case "Choice":
		return draw.Choice
	case "Wait":
		return draw.Wait
	default:
		return draw.Compute
	}
}
