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
	var restored, repair, all bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the database and the processes that serve it",
		Long: `Check the database and the processes that serve it. It prints how many checks are well,
and then what is not; with --all and in JSON also what is. It changes nothing that other
processes can see. The exit status is 1 if something is wrong, 0 if there are only
warnings, and 7 if the database cannot be reached. The checks report:

  memory         the memory limit and the budget of ebb serve
  growth         the runs that have written most, and open runs at 80% of a limit or
                 growing by more than 1 MiB a second
  schema         missing tables, or a schema older or newer than this ebb's
  clock, past, clock set back
                 a difference between the clocks of machine and database; changes, or processes
                 last seen, in the future
  file system    a file on NFS, SMB, Ceph, sshfs, virtiofs or the like, where locks do not
                 reach other machines (Linux)
  files          users who may read but not write the database, all users who may change or
                 replace it, or a file with two names
  writing        a write that cannot be committed, and which process is in the way (Linux)
  notifications  those that do not arrive, for example through a pooler; processes
                 then find work a second later. This check takes some seconds
  program, process, processes
                 the version of this ebb and of each ebb serve, with the average size of its
                 group commits; processes that were stopped; how many use the database
  stored runs, board, limits
                 how many runs and jobs there are, by state; how much of each limit is in
                 use, and how many runs wait for their place
  need a person, parked messages
                 runs whose undo failed or that were set aside, and messages that failed too
                 often
  rows           those that cannot be read: lists leave them out
  records        named records that cannot be read, or that changed in the future
  executions     of up to 1,000 open and 1,000 closed executions of Amazon SWF, and 200,000
                 events: rows (what is open, tasks, timers, key) that are not what the events
                 say. Restore the database, or end them: ebb cancel also undoes them
  runs, jobs, schedules
                 runs due, and jobs unclaimed, for a minute, because no process serves that
                 offers what they need or knows their flow; schedules late by a minute
  queues         work that has waited for workers for a minute, although none asks for it
  crash loops, set aside, refused, parked jobs
                 runs that may kill their process, runs that were set aside, runs that a
                 process refuses while no other drives them, and jobs that need a decision

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
			return s.examine(cmd.Context(), all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list also what is well")
	cmd.Flags().BoolVar(&restored, "after-restore", false, "make a database that was restored from a copy safe to use")
	cmd.Flags().BoolVar(&repair, "repair", false, "repair the keys of runs")
	return cmd
}

// examine prints a summary, and then the findings.
func (s subcommands) examine(ctx context.Context, all bool) error {
	if s.JSON() {
		return doctor.Examine(ctx, s.Session, s.tellFinding)
	}
	counts := map[string]int{}
	var list []doctor.Finding
	failed := doctor.Examine(ctx, s.Session, func(f *doctor.Finding) error {
		if counts[f.State]++; all || f.State != doctor.OK {
			list = append(list, *f)
		}
		return nil
	})
	if len(counts) == 0 { // the database cannot be reached
		return failed
	}
	text := view.Count(counts[doctor.OK], "check") + " ok"
	if n := counts[doctor.Warning]; n > 0 {
		text = view.Count(n, "warning") + ", " + text
	}
	if n := counts[doctor.Wrong]; n > 0 {
		text = fmt.Sprintf("%d wrong, ", n) + text
	}
	if !all {
		text += " (ebb doctor --all lists them)"
	}
	fmt.Fprintln(s.Out, text)
	for i := range list {
		if err := s.tellFinding(&list[i]); err != nil {
			return err
		}
	}
	return failed
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
