package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/storage"
)

func (s *session) limitCommand() *cobra.Command {
	var of storage.Limit
	cmd := &cobra.Command{
		Use:   "limit [N | none]",
		Short: "Limit how many runs are moved at once, or list the limits",
		Long: `Limit how many runs are moved at once: those of a flow, or of every flow; with
--label those that have the same value of a label, each value by itself. Limits are
kept in the database and hold for all processes that move its runs. A run that only
waits takes no place; one that has to wait for its place goes on as soon as there is
one, those first that have waited for longest. Without N all limits are listed.`,
		Example: `  ebb limit 10 --flow trip
  ebb limit 1 --label customer
  ebb limit none --flow trip`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 0 {
				if of != (storage.Limit{}) {
					return usagef("say how many at once, such as ebb limit 10, or none")
				}
				return s.reading(ctx, func(store storage.Store) error { return s.limits(ctx, store) })
			}
			if args[0] != "none" {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 1 {
					return usagef("%s: want a number from 1 on, or none", args[0])
				}
				of.Runs = n
			}
			if err := of.Check(); err != nil {
				return usagef("%w", err)
			}
			return s.withStore(ctx, func(store storage.Store) error { return unreachable(store.SetLimit(ctx, of)) })
		},
	}
	cmd.Flags().StringVar(&of.Flow, "flow", "", "count the runs of this flow (default: of every flow)")
	cmd.Flags().StringVar(&of.Label, "label", "", "count those together that have the same value of this label")
	return cmd
}

type jsonLimit struct {
	Flow  string `json:"flow"`  // "" is every flow
	Label string `json:"label"` // "" is none
	Runs  int    `json:"runs"`
}

func (s *session) limits(ctx context.Context, store storage.Store) error {
	limits, err := store.Limits(ctx)
	if err != nil {
		return unreachable(err)
	}
	for _, l := range limits {
		if s.output == asJSON {
			err = newJSON(s.out).Encode(jsonLimit(l))
		} else {
			_, err = fmt.Fprintln(s.out, plainText(l.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
