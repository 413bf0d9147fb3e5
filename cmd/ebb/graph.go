package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/flow/draw"
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
			picture, err := s.picture(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text := draw.Mermaid(picture)
			if format == "dot" {
				text = draw.DOT(picture)
			}
			_, err = fmt.Fprint(s.out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", graphFormats[0], strings.Join(graphFormats, " or "))
	return cmd
}

// picture returns the picture of a file, or of a run when there is no such file.
func (s *session) picture(ctx context.Context, what string) (picture draw.View, err error) {
	if _, err := os.Stat(what); err == nil {
		how, err := s.howToRead(what)
		if err != nil {
			return picture, err
		}
		def, err := definition.Read(what, how)
		if err != nil {
			return picture, err
		}
		return def.Machine.Picture(def.Name), nil
	}
	err = s.reading(ctx, func(store storage.Store) error {
		run, err := findRun(ctx, store, what)
		if err != nil {
			return fmt.Errorf("there is no file %s, and %w", what, err)
		}
		j, err := s.runSessionOf(ctx, store, &run)
		if err != nil {
			return err
		}
		became, err := j.machine.Became(storage.EachEntry(ctx, store, run.ID, 0))
		picture = j.machine.Picture(run.Flow + "  " + run.ID).Coloured(became)
		return unreachable(err)
	})
	return picture, err
}
