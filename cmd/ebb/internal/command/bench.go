package command

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/enginebench"
)

func (s subcommands) benchCommand() *cobra.Command {
	var c enginebench.Config
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast runs execute, compared with the database alone",
		Long: "Measure how fast runs execute, compared with the database alone.\n\nThe workloads are\n" +
			enginebench.Describe() + `
Each workload runs on a database of its own, which is created in the folder of the database that --dsn names and
removed at the end; on a server, in a schema of its own. --dsn memory: is the store in memory. The ceiling is the rate
at which the same database accepts equally large rows and transactions without Ebb, measured after the workload.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.DSN = s.DSN
			self, err := os.Executable()
			if err != nil {
				return err
			}
			c.Self = []string{self, "bench", "act"}
			for _, name := range c.Workloads {
				if err := session.OneOf("workload", name, enginebench.Names()); err != nil {
					return err
				}
			}
			var measured []enginebench.Result
			// Without this, a signal would leave the benchmark's database behind.
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			err = enginebench.Run(ctx, c, func(r enginebench.Result) error {
				if !s.JSON() {
					fmt.Fprintf(s.Err, "%s: %d steps\n", r.Workload, r.Steps)
				}
				measured = append(measured, r)
				return nil
			})
			if err != nil {
				return exit.DatabaseError(err)
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
			return enginebench.Act(cmd.Context(), args[0], args[1], runs, s.Out)
		},
	})
	cmd.Flags().StringSliceVar(&c.Workloads, "workload", nil, "only these, of "+strings.Join(enginebench.Names(), ", "))
	cmd.Flags().BoolVar(&c.Quick, "quick", false, "a hundredth of the size, to see that it works: the figures say nothing")
	return cmd
}

func (s subcommands) tellBench(measured []enginebench.Result) error {
	if s.JSON() {
		return view.NewJSON(s.Out).Encode(measured)
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table,
		"WORKLOAD\tSTEPS/S\tCEILING/S\tRATIO\tP50 µs\tP99 µs\tROWS\tBYTES\tFSYNCS\tCPU µs\tCEIL. µs\tRSS MB\t")
	for i := range measured {
		r := &measured[i]
		fmt.Fprint(table, r.Workload, "\t")
		for _, f := range []enginebench.Figure{
			r.StepsPerS, r.CeilingPerS, r.Ratio, r.P50, r.P99, r.RowsPerStep, r.BytesPerStep, r.FsyncsPerStep, r.CPUPerStep,
			r.CeilingCPU, r.PeakRSS,
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
			fmt.Fprintf(s.Out, "seq: %v steps/s while the log was cold\n", r.Cold)
		case "resume":
			fmt.Fprintf(s.Out, "resume: all ended %v s after the start of the process, %v s more than their steps take at "+
				"the rate of many, which is its ceiling\n",
				r.Resume, r.ResumeOver)
		case "undo":
			fmt.Fprintf(s.Out, "undo: undoing a run took %v times as long as executing it\n", r.RevertCost)
		}
	}
	_, err := fmt.Fprintln(s.Out,
		"rows, bytes of the database, fsyncs and CPU, its own and of the ceiling, are for one step")
	return err
}
