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
	var restored bool
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
the database.`,
		Example: `  ebb doctor --dsn postgres://db.example.org/ebb
  ebb doctor --after-restore`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if restored {
				return s.afterRestore(cmd.Context())
			}
			return doctor.Examine(cmd.Context(), s.Session, s.tellFinding)
		},
	}
	cmd.Flags().BoolVar(&restored, "after-restore", false, "make a database that was restored from a copy safe to use")
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

// afterRestore makes a restored database safe.
func (s subcommands) afterRestore(ctx context.Context) error {
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
