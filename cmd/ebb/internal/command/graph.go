package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

var graphFormats = []string{"mermaid", "dot", "svg"}

func (s subcommands) graphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph FILE|RUN",
		Short: "Draw a definition, or the progress of a run in it",
		Long: `Draw a definition as text for Mermaid or Graphviz, or as an SVG image. Given the id of a
run, draw its definition with a color for the outcome of each state. An execution of
Amazon SWF has no definition: its decisions are drawn, and what led to what.`,
		Example: `  ebb graph trip.asl.json > trip.mmd
  ebb graph --format dot trip-k3v9x2ab | dot -Tsvg > trip.svg
  ebb graph --format svg trip-k3v9x2ab > trip.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := session.OneOf("format", format, graphFormats); err != nil {
				return err
			}
			picture, err := s.picture(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text := draw.Mermaid(picture)
			switch format {
			case "dot":
				text = draw.DOT(picture)
			case "svg":
				text = draw.SVG(picture, draw.SVGOptions{})
			}
			_, err = fmt.Fprint(s.Out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", graphFormats[0], strings.Join(graphFormats, ", "))
	return cmd
}

// picture returns the diagram of a file or, if there is no such file, of a run. A folder may have the name of a run,
// such as the folder that ebb demo creates.
func (s subcommands) picture(ctx context.Context, what string) (picture draw.View, err error) {
	if info, err := os.Stat(what); err == nil && !info.IsDir() {
		how, err := s.HowToRead(what)
		if err != nil {
			return picture, err
		}
		def, err := definition.Read(what, how)
		if err != nil {
			return picture, err
		}
		return def.Machine.Picture(def.Name), nil
	}
	err = s.Reading(ctx, func(store *sqlstore.Store) error {
		run, err := session.FindRun(ctx, store, what)
		if err != nil {
			return fmt.Errorf("there is no file %s, and %w", what, err)
		}
		if isExecution(&run) && swf.IsExecution(&run) {
			picture, err = swf.Picture(ctx, store, &run)
			if errors.Is(err, swf.ErrManyNodes) {
				return fmt.Errorf("%w, so there is no diagram; its tree: ebb show %s", err, visible.Word(run.ID))
			}
			return exit.DatabaseError(err)
		}
		if run.Definition == "" {
			picture, _, err = new(inspect.Levels).RunView(ctx, store, &run, nil)
			if errors.Is(err, storage.ErrNotFound) {
				return fmt.Errorf("the flow of run %s is Go code that grows, or has over 2,000 atoms, and the run has no steps "+
					"yet, so there is no diagram", run.ID)
			}
			return exit.DatabaseError(err)
		}
		d, err := drive.Open(ctx, s.Session, store, &run)
		if err != nil {
			return err
		}
		picture, err = d.Machine.Became(d.Machine.Picture(run.Flow+"  "+run.ID), storage.EachEntry(ctx, store, run.ID, 0))
		return exit.DatabaseError(err)
	})
	return picture, err
}
