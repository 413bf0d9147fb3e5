package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) limitCommand() *cobra.Command {
	var of storage.Limit
	var rate string
	cmd := &cobra.Command{
		Use:   "limit [N | none]",
		Short: "Limit how many runs are moved at once, and how many jobs are begun in a time, or list the limits",
		Long: `Limit how many runs are moved at once: those of a flow, or of every flow; with
--label those that have the same value of a label, each value by itself. Limits are
kept in the database and hold for all processes that move its runs. A run that only
waits takes no place; one that has to wait for its place goes on as soon as there is
one, those first that have waited for longest.

--rate N/TIME limits how many jobs are begun within a time, wherever that begins, and
leaves N as it is; --rate none lifts it. none lifts both. Without N and --rate all
limits are listed.`,
		Example: `  ebb limit 10 --flow trip
  ebb limit 1 --label customer
  ebb limit --flow trip --rate 100/1m
  ebb limit none --flow trip`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 0 && rate == "" {
				if of != (storage.Limit{}) {
					return usagef("say how many at once, such as ebb limit 10, or --rate 100/1m, or none")
				}
				return s.reading(ctx, func(store storage.Store) error { return s.limits(ctx, store) })
			}
			change, err := limitChange(args, rate)
			if err != nil {
				return err
			}
			checked := of
			change(&checked)
			if err := checked.Check(); err != nil {
				return usagef("%w", err)
			}
			return s.withStore(ctx, func(store storage.Store) error {
				limits, err := store.Limits(ctx)
				if err != nil {
					return unreachable(err)
				}
				limit := of
				for _, l := range limits {
					if l.Flow == of.Flow && l.Label == of.Label {
						limit = l
					}
				}
				change(&limit)
				return unreachable(store.SetLimit(ctx, limit))
			})
		},
	}
	cmd.Flags().StringVar(&of.Flow, "flow", "", "count the runs of this flow (default: of every flow)")
	cmd.Flags().StringVar(&of.Label, "label", "", "count those together that have the same value of this label")
	cmd.Flags().StringVar(&rate, "rate", "", "how many jobs are begun within a time, such as 100/1m, or none")
	return cmd
}

// limitChange returns what an argument and --rate change of a limit.
func limitChange(args []string, rate string) (func(*storage.Limit), error) {
	var to storage.Limit
	if len(args) > 0 && args[0] != "none" {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return nil, usagef("%s: want a number from 1 on, or none", args[0])
		}
		to.Runs = n
	}
	if rate != "" && rate != "none" {
		count, per, _ := strings.Cut(rate, "/")
		n, err := strconv.Atoi(count)
		d, bad := time.ParseDuration(per)
		if err != nil || bad != nil || n < 1 {
			return nil, usagef("--rate %s: want a number and a time, such as 100/1m, or none", rate)
		}
		to.Rate, to.Per = n, d
	}
	return func(l *storage.Limit) {
		if len(args) > 0 {
			l.Runs = to.Runs
		}
		if rate != "" || len(args) > 0 && args[0] == "none" {
			l.Rate, l.Per = to.Rate, to.Per
		}
	}, nil
}

type jsonLimit struct {
	Flow  string `json:"flow"`  // "" is every flow
	Label string `json:"label"` // "" is none
	Runs  int    `json:"runs"`  // 0 is as many as want to
	Rate  int    `json:"rate,omitzero"`
	Per   string `json:"per,omitzero"` // as Go writes durations
}

func limitJSON(l *storage.Limit) jsonLimit {
	out := jsonLimit{Flow: l.Flow, Label: l.Label, Runs: l.Runs, Rate: l.Rate}
	if l.Rate > 0 {
		out.Per = l.Per.String()
	}
	return out
}

func (s *session) limits(ctx context.Context, store storage.Store) error {
	limits, err := store.Limits(ctx)
	if err != nil {
		return unreachable(err)
	}
	if len(limits) == 0 && s.output == asText {
		_, err = fmt.Fprintln(s.out, "no limits")
		return err
	}
	for _, l := range limits {
		if s.output == asJSON {
			err = view.NewJSON(s.out).Encode(limitJSON(&l))
		} else {
			_, err = fmt.Fprintln(s.out, visible.Line(l.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
