package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/enginebench"
)

func (s *session) benchCommand() *cobra.Command {
	var c enginebench.Config
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast runs go, beside what the database takes",
		Long: "Measure how fast runs go, beside what the database takes.\n\nThe workloads are\n" + enginebench.Describe() + `
Each is run on a database of its own, made in the folder of the one that --dsn names, which is not touched, and
removed in the end; on a server, in a schema of its own. --dsn memory: is the store in memory. The ceiling is what the same database takes of rows
as large in transactions as large without Ebb, written right after the workload.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.DSN = s.dsn
			self, err := os.Executable()
			if err != nil {
				return err
			}
			c.Self = []string{self, "bench", "act"}
			for _, name := range c.Workloads {
				if err := oneOf("workload", name, enginebench.Names()); err != nil {
					return err
				}
			}
			var measured []enginebench.Result
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM) // to tidy up behind it
			defer stop()
			err = enginebench.Run(ctx, c, func(r enginebench.Result) error {
				if s.output != asJSON {
					fmt.Fprintf(s.err, "%s: %d steps\n", r.Workload, r.Steps)
				}
				measured = append(measured, r)
				return nil
			})
			if err != nil {
				return unreachable(err)
			}
			return s.tellBench(measured)
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:    "act PART DSN RUNS",
		Short:  "Be one of the processes of the workload resume",
		Args:   cobra.ExactArgs(3),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := strconv.Atoi(args[2])
			if err != nil {
				return err
			}
			return enginebench.Act(cmd.Context(), args[0], args[1], runs, s.out)
		},
	})
	cmd.Flags().StringSliceVar(&c.Workloads, "workload", nil, "only these, of "+strings.Join(enginebench.Names(), ", "))
	cmd.Flags().BoolVar(&c.Quick, "quick", false, "a hundredth of the size, to see that it works: the figures say nothing")
	return cmd
}

func (s *session) tellBench(measured []enginebench.Result) error {
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(measured)
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "WORKLOAD\tSTEPS/S\tCEILING/S\tRATIO\tP50 µs\tP99 µs\tROWS\tBYTES\tFSYNCS\tCPU µs\tCEIL. µs\tRSS MB\t")
	for i := range measured {
		r := &measured[i]
		fmt.Fprint(table, r.Workload, "\t")
		for _, f := range []enginebench.Figure{
			r.StepsPerS, r.CeilingPerS, r.Ratio, r.P50, r.P99, r.RowsPerStep, r.BytesPerStep, r.FsyncsPerStep, r.CPUPerStep, r.CeilingCPU, r.PeakRSS,
		} {
			fmt.Fprint(table, f, "\t")
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i := range measured {
		switch r := &measured[i]; r.Workload {
		case "seq":
			fmt.Fprintf(s.out, "seq: %v steps/s while the log was cold\n", r.Cold)
		case "resume":
			fmt.Fprintf(s.out, "resume: all ended %v s after the start of the process, %v s more than their steps take at the rate of many, which is its ceiling\n",
				r.Resume, r.ResumeOver)
		case "undo":
			fmt.Fprintf(s.out, "undo: undoing a run took %v times as long as executing it\n", r.RevertCost)
		}
	}
	_, err := fmt.Fprintln(s.out, "rows, bytes of the database, fsyncs and CPU, its own and of the ceiling, are for one step")
	return err
}
