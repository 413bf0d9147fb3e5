package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/doctor"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) doctorCommand() *cobra.Command {
	var restored, repair bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the database and the processes that serve it",
		Long: `Check the database and the processes that serve it: its tables, clocks, the file
system, the memory of a process, permissions, notifications between processes, and work that no process drives. It
changes nothing that other processes can see. The exit status is 1 if something is wrong, and
0 if there are only warnings.

--after-restore makes a database safe to use after it was restored from a copy. A
process that claimed a run or job after the copy was made can no longer write it, and
runs and jobs with an owner in the copy are free. First stop all processes that use
the database.

--repair releases keys that no open run holds, and gives open runs back the keys that
they have lost. First stop all processes, too.`,
		Example: `  ebb doctor --dsn postgres://db.example.org/ebb
  ebb doctor --after-restore`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case restored && repair:
				return exit.Usagef("--after-restore and --repair are two commands")
			case restored:
				return s.afterRestore(cmd.Context())
			case repair:
				return s.repair(cmd.Context())
			}
			return doctor.Examine(cmd.Context(), s.Session, s.tellFinding)
		},
	}
	cmd.Flags().BoolVar(&restored, "after-restore", false, "make a database that was restored from a copy safe to use")
	cmd.Flags().BoolVar(&repair, "repair", false, "repair the keys of runs")
	return cmd
}

// tellFinding prints a finding.
func (s subcommands) tellFinding(f *doctor.Finding) error {
	text := fmt.Sprintf("%-7s  %s: %s", f.State, f.Check, visible.Line(f.Says))
	if f.Do != "" {
		text += "\n         → " + visible.Line(f.Do)
	}
	return s.Emit(f, "%s", text)
}

// alone returns an error if a process uses the database.
func (s subcommands) alone(ctx context.Context) error {
	var alive []string
	err := s.Reading(ctx, func(store *sqlstore.Store) error { // a database that does not exist is not created
		owners, err := store.Owners(ctx)
		for _, o := range owners {
			if o.Alive {
				alive = append(alive, fmt.Sprintf("%d on %s", o.PID, o.Host))
			}
		}
		return exit.DatabaseError(err)
	})
	if err != nil {
		return err
	}
	if len(alive) > 0 {
		return exit.Usagef("processes use the database: stop them first (%s)", strings.Join(alive, ", "))
	}
	return nil
}

// repair repairs the keys of runs.
func (s subcommands) repair(ctx context.Context) error {
	if err := s.alone(ctx); err != nil {
		return err
	}
	return s.WithStore(ctx, func(store *sqlstore.Store) error {
		released, restored, err := store.RepairKeys(ctx)
		if err != nil {
			return exit.DatabaseError(err)
		}
		return s.Emit(map[string]int64{"released": released, "restored": restored}, "%s released, %s given back to open runs",
			view.Count(int(released), "key"), view.Count(int(restored), "key"))
	})
}

// afterRestore makes a restored database safe.
func (s subcommands) afterRestore(ctx context.Context) error {
	if err := s.alone(ctx); err != nil {
		return err
	}
	return s.WithStore(ctx, func(store *sqlstore.Store) error {
		runs, jobs, err := store.AfterRestore(ctx)
		if err != nil {
			return exit.DatabaseError(err)
		}
		return s.Emit(map[string]int64{"runs": runs, "jobs": jobs},
			"%s and %s go on as the copy has them; what was claimed since can write nothing",
			view.Count(int(runs), "run"), view.Count(int(jobs), "job"))
	})
}
