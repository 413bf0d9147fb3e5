package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// scheduleFlags are the flags of ebb schedule add.
type scheduleFlags struct {
	jobFlags

	zone    string
	catchUp int
}

func (s subcommands) scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "List, add, pause or remove schedules of jobs",
		Long: `List the schedules of a database. Each posts a job at its ticks while a process serves
the database (ebb serve). Each tick posts one job, however many processes serve.`,
		Example: `  ebb schedule add nightly '30 2 * * *' trip --zone Europe/Rome --input '{"to": "Rome"}'
  ebb schedule pause nightly
  ebb schedule`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.schedules(cmd.Context()) },
	}
	cmd.AddCommand(
		s.scheduleAddCommand(),
		s.changeScheduleCommand("remove", "Remove a schedule; its posted jobs stay",
			func(ctx context.Context, b *jobs.Board, id string) error {
				return b.RemoveSchedule(ctx, id)
			}),
		s.changeScheduleCommand("pause", "Pause a schedule until ebb schedule resume",
			func(ctx context.Context, b *jobs.Board, id string) error {
				return b.PauseSchedule(ctx, id, true)
			}),
		s.changeScheduleCommand("resume", "Resume a schedule from its next tick",
			func(ctx context.Context, b *jobs.Board, id string) error {
				return b.PauseSchedule(ctx, id, false)
			}),
	)
	return cmd
}

func (s subcommands) scheduleAddCommand() *cobra.Command {
	var f scheduleFlags
	cmd := &cobra.Command{
		Use:   "add ID WHEN FILE|FLOW[@VERSION]",
		Short: "Add a schedule, or change it",
		Long: `Add a schedule, or change it. WHEN has the five fields of crontab: minute, hour, day of
month, month and day of week ('30 2 * * *'). It may also be @yearly, @monthly, @weekly,
@daily, @hourly, or '@every 90s'. Times are in UTC, or in the --zone. If the change to
daylight saving time skips a time, the tick is at the change; a repeated time ticks once.

The job of a tick, and its run, have the id of the schedule and the time of the tick:
nightly@2026-11-22T01:30:00Z. If ticks pass while no process serves, the latest ones
post their jobs later, as many as --catch-up says. A paused schedule stays paused.`,
		Example: `  ebb schedule add nightly '30 2 * * *' trip --zone Europe/Rome`,
		Args:    cobra.ExactArgs(3),
		RunE:    func(cmd *cobra.Command, args []string) error { return s.addSchedule(cmd.Context(), args, &f) },
	}
	flags := cmd.Flags()
	f.addFlags(flags)
	flags.StringVar(&f.zone, "zone", "", "the time zone of WHEN, such as Europe/Rome (default UTC)")
	flags.IntVar(&f.catchUp, "catch-up", 1,
		"number of missed ticks to make up for, latest ones only")
	return cmd
}

func (s subcommands) addSchedule(ctx context.Context, args []string, f *scheduleFlags) error {
	if err := backend.CheckID("the id", args[0]); err != nil {
		return err
	}
	job, what, err := s.job(args[2], &f.jobFlags)
	if err != nil {
		return err
	}
	spec := strings.Join(strings.Fields(args[1]), " ")
	if f.zone != "" {
		spec = "TZ=" + f.zone + " " + spec
	}
	if f.catchUp < 1 {
		return exit.Usagef("--catch-up %d: want 1 to %d", f.catchUp, jobs.MaxCatchUp)
	}
	if _, err := jobs.Ticks(spec, time.Now(), 1); err != nil { // before the definition is stored
		return exit.Usagef("%w", err)
	}
	return s.withFlow(ctx, what, func(store *sqlstore.Store) error {
		if job.Version, err = what.store(ctx, store); err != nil {
			return err
		}
		err = jobs.New(store, jobs.Policy{}).AddSchedule(s.Audited(ctx, "add", "schedule "+args[0]), jobs.Schedule{
			ID: args[0], Spec: spec, CatchUp: f.catchUp,
			Job: job,
		})
		if errors.Is(err, storage.ErrInvalid) {
			return exit.Usagef("%w", err)
		}
		if err != nil {
			return exit.DatabaseError(err)
		}
		s.Done = true
		return s.showScheduleOf(ctx, store, args[0])
	})
}

// changeScheduleCommand returns a command that changes one schedule.
func (s subcommands) changeScheduleCommand(verb, short string,
	change func(context.Context, *jobs.Board, string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.WithExisting(cmd.Context(), func(store *sqlstore.Store) error {
				ctx, id := cmd.Context(), args[0]
				err := change(s.Audited(ctx, verb, "schedule "+id), jobs.New(store, jobs.Policy{}), id)
				if errors.Is(err, storage.ErrNotFound) {
					return &exit.Error{
						Status: exit.NotFound,
						Err:    fmt.Errorf("there is no schedule %s (ebb schedule lists all schedules)", id),
					}
				}
				s.Done = err == nil
				if err != nil || verb == "remove" {
					return exit.DatabaseError(err)
				}
				return s.showScheduleOf(ctx, store, id)
			})
		},
	}
}

func (s subcommands) showScheduleOf(ctx context.Context, store backend.Store, id string) error {
	is, err := store.Schedule(ctx, id)
	if err != nil {
		return exit.DatabaseError(err)
	}
	return s.showSchedule(&is)
}

func (s subcommands) schedules(ctx context.Context) error {
	return s.Reading(ctx, func(store *sqlstore.Store) error {
		for one, err := range backend.EachSchedule(ctx, store, backend.ScheduleQuery{}) {
			if err != nil {
				return exit.DatabaseError(err)
			}
			if err := s.showSchedule(&one); err != nil {
				return err
			}
		}
		return nil
	})
}

// showSchedule prints a schedule on a line.
func (s subcommands) showSchedule(sched *backend.Schedule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", visible.Line(sched.ID), visible.Line(sched.Spec), visible.Line(sched.Flow))
	if sched.Version > 0 {
		fmt.Fprintf(&b, "@%d", sched.Version)
	}
	switch {
	case sched.Err != nil:
		fmt.Fprintf(&b, "  %s", visible.Line(sched.Err.Error()))
	case sched.Paused:
		b.WriteString("  paused")
	case sched.Next.IsZero():
		b.WriteString("  never again")
	default:
		fmt.Fprintf(&b, "  next %s", sched.Next.UTC().Format(time.RFC3339))
	}
	if !sched.Last.IsZero() {
		fmt.Fprintf(&b, "  last %s", sched.Last.UTC().Format(time.RFC3339))
	}
	return s.Emit(inspect.ScheduleOf(sched), "%s", b.String())
}
