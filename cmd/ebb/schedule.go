package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

// scheduleFlags are the flags of ebb schedule add.
type scheduleFlags struct {
	input    string
	priority int
	needs    []string
	labels   []string
	zone     string
	catchUp  int
}

func (s *session) scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "List when jobs are posted by themselves, and decide about it",
		Long: `List the schedules of a database: each posts a job at its ticks, as long as somebody
serves the database (ebb serve). For each tick one job is posted, however many serve.`,
		Example: `  ebb schedule add nightly '30 2 * * *' trip --zone Europe/Rome --input '{"to": "Rome"}'
  ebb schedule pause nightly
  ebb schedule`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.schedules(cmd.Context()) },
	}
	cmd.AddCommand(
		s.scheduleAddCommand(),
		s.changeScheduleCommand("remove", "Take a schedule away; what it has posted stays", func(ctx context.Context, b *jobs.Board, id string) error {
			return b.RemoveSchedule(ctx, id)
		}),
		s.changeScheduleCommand("pause", "Let a schedule post nothing until ebb schedule resume", func(ctx context.Context, b *jobs.Board, id string) error {
			return b.PauseSchedule(ctx, id, true)
		}),
		s.changeScheduleCommand("resume", "Let a schedule post again, from its next tick on", func(ctx context.Context, b *jobs.Board, id string) error {
			return b.PauseSchedule(ctx, id, false)
		}),
	)
	return cmd
}

func (s *session) scheduleAddCommand() *cobra.Command {
	var f scheduleFlags
	cmd := &cobra.Command{
		Use:   "add ID WHEN FILE|FLOW[@VERSION]",
		Short: "Add a schedule, or change it",
		Long: `Add a schedule, or change it. WHEN is five fields as crontab has them, minute, hour,
day of month, month and day of week ('30 2 * * *'), or @yearly, @monthly, @weekly,
@daily, @hourly, or '@every 90s'. It is read in UTC, or in the --zone. A time that
is left out when clocks are put forward is then; one that comes twice is the first.

The job of a tick, and its run, are named after both: nightly@2026-11-22T01:30:00Z.
Ticks that come while nobody serves are made up for with the latest, or with so many
as --catch-up says. A schedule that is paused stays so.`,
		Example: `  ebb schedule add nightly '30 2 * * *' trip --zone Europe/Rome`,
		Args:    cobra.ExactArgs(3),
		RunE:    func(cmd *cobra.Command, args []string) error { return s.addSchedule(cmd.Context(), args, &f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.input, "input", "i", "", "input of the runs: JSON, @FILE, or - for standard input (default {})")
	flags.IntVar(&f.priority, "priority", 0, "jobs of larger priority are claimed first")
	flags.StringArrayVar(&f.needs, "needs", nil, "what whoever runs it must offer, KEY=VALUE; may be repeated")
	flags.StringArrayVar(&f.labels, "label", nil, "what to find the runs by, KEY=VALUE; may be repeated")
	flags.StringVar(&f.zone, "zone", "", "the time zone of WHEN, such as Europe/Rome (default UTC)")
	flags.IntVar(&f.catchUp, "catch-up", 1, "how many ticks are made up for that came while nobody served, the latest ones")
	return cmd
}

func (s *session) addSchedule(ctx context.Context, args []string, f *scheduleFlags) error {
	if err := definition.CheckName("the id", args[0]); err != nil {
		return err
	}
	needs, err := parseLabels(f.needs)
	if err != nil {
		return err
	}
	labels, err := parseLabels(f.labels)
	if err != nil {
		return err
	}
	input, err := s.input(f.input)
	if err != nil {
		return err
	}
	what, err := s.wanted(args[2])
	if err != nil {
		return err
	}
	spec := strings.Join(strings.Fields(args[1]), " ")
	if f.zone != "" {
		spec = "TZ=" + f.zone + " " + spec
	}
	if f.catchUp < 1 {
		return usagef("--catch-up %d: want 1 to %d", f.catchUp, jobs.MaxCatchUp)
	}
	if _, err := jobs.Ticks(spec, time.Now(), 1); err != nil { // before anything is stored
		return usagef("%w", err)
	}
	return s.withStore(ctx, func(store storage.Store) error {
		version, err := s.storeWanted(ctx, store, what)
		if err != nil {
			return err
		}
		board := jobs.New(store, jobs.Policy{})
		err = board.AddSchedule(ctx, jobs.Schedule{ID: args[0], Spec: spec, CatchUp: f.catchUp, Job: jobs.Job{
			Flow: what.name, Version: version, Input: input, Labels: needs, RunLabels: labels, Priority: f.priority,
		}})
		if errors.Is(err, storage.ErrInvalid) {
			return usagef("%w", err)
		}
		if err != nil {
			return unreachable(err)
		}
		return s.showScheduleOf(ctx, store, args[0])
	})
}

// changeScheduleCommand is a command that changes one schedule.
func (s *session) changeScheduleCommand(verb, short string, change func(context.Context, *jobs.Board, string) error) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withStore(cmd.Context(), func(store storage.Store) error {
				ctx, id := cmd.Context(), args[0]
				err := change(ctx, jobs.New(store, jobs.Policy{}), id)
				if errors.Is(err, jobs.ErrNotFound) {
					return &statusError{status: exitNotFound, err: fmt.Errorf("there is no schedule %s (ebb schedule lists those there are)", id)}
				}
				if err != nil || verb == "remove" {
					return unreachable(err)
				}
				return s.showScheduleOf(ctx, store, id)
			})
		},
	}
}

func (s *session) showScheduleOf(ctx context.Context, store storage.Store, id string) error {
	is, err := store.Schedule(ctx, id)
	if err != nil {
		return unreachable(err)
	}
	return s.showSchedule(&is)
}

func (s *session) schedules(ctx context.Context) error {
	return listing(ctx, s, func(store storage.Store) ([]storage.Schedule, error) { return store.Schedules(ctx) }, s.showSchedule)
}

// scheduleJSON is a schedule as programs read it.
type scheduleJSON struct {
	ID       string            `json:"schedule"`
	When     string            `json:"when"`
	Flow     string            `json:"flow"`
	Version  int64             `json:"version,omitzero"`
	Priority int               `json:"priority"`
	Needs    map[string]string `json:"needs,omitzero"`
	Labels   map[string]string `json:"labels,omitzero"`
	CatchUp  int               `json:"catch_up"`
	Paused   bool              `json:"paused"`
	Next     time.Time         `json:"next,omitzero"`
	Last     time.Time         `json:"last,omitzero"`
}

// showSchedule prints a schedule on a line.
func (s *session) showSchedule(is *storage.Schedule) error {
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(scheduleJSON{
			ID: is.ID, When: is.Spec, Flow: is.Flow, Version: is.Version, Priority: is.Priority, Needs: is.Needs, Labels: is.Labels,
			CatchUp: is.CatchUp, Paused: is.Paused, Next: is.Next, Last: is.Last,
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", visible.Line(is.ID), visible.Line(is.Spec), visible.Line(is.Flow))
	if is.Version > 0 {
		fmt.Fprintf(&b, "@%d", is.Version)
	}
	switch {
	case is.Paused:
		b.WriteString("  paused")
	case is.Next.IsZero():
		b.WriteString("  never again")
	default:
		fmt.Fprintf(&b, "  next %s", is.Next.UTC().Format(time.RFC3339))
	}
	if !is.Last.IsZero() {
		fmt.Fprintf(&b, "  last %s", is.Last.UTC().Format(time.RFC3339))
	}
	_, err := fmt.Fprintln(s.out, b.String())
	return err
}
