package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

// postFlags are the flags of ebb post.
type postFlags struct {
	id       string
	input    string
	priority int
	after    string
	needs    []string
	labels   []string
	trace    string
}

func (s *session) postCommand() *cobra.Command {
	var f postFlags
	cmd := &cobra.Command{
		Use:   "post FILE|FLOW[@VERSION]",
		Short: "Post a job: a run to be made by whoever serves the database",
		Long: `Post a job: a run to be made by whoever serves the database (ebb serve). FILE is
stored first; FLOW is the name of a definition that is stored already, the newest
unless a version is named. The run has the job's id. A job of an id that was posted
before is not posted again.`,
		Example: `  ebb post trip.asl.json --input '{"to": "Rome"}' --id trip-7
  ebb post trip --after 2h --priority 5 --needs gpu=a100`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.post(cmd.Context(), args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "id of the job and of its run (default the flow's name and a random end)")
	flags.StringVarP(&f.input, "input", "i", "", "input: JSON, @FILE, or - for standard input (default {})")
	flags.IntVar(&f.priority, "priority", 0, "jobs of larger priority are claimed first")
	flags.StringVar(&f.after, "after", "", "not to be begun before: a time such as 2026-11-30T08:00:00Z, or a duration from now on such as 90m")
	flags.StringArrayVar(&f.labels, "label", nil, "what to find the run by, and what limits count it by, KEY=VALUE; may be repeated")
	flags.StringArrayVar(&f.needs, "needs", nil, "what whoever runs it must offer, KEY=VALUE; may be repeated")
	traceFlag(flags, &f.trace)
	return cmd
}

func (s *session) post(ctx context.Context, text string, f *postFlags) error {
	needs, err := parseLabels(f.needs)
	if err != nil {
		return err
	}
	labels, err := parseLabels(f.labels)
	if err != nil {
		return err
	}
	trace, err := traceparent(f.trace)
	if err != nil {
		return err
	}
	after, err := parseAfter(f.after, time.Now())
	if err != nil {
		return err
	}
	input, err := s.input(f.input)
	if err != nil {
		return err
	}
	what, err := s.wanted(text)
	if err != nil {
		return err
	}
	run := runFlags{id: f.id}
	id, err := run.runID(what.name)
	if err != nil {
		return err
	}
	return s.withStore(ctx, func(store storage.Store) error {
		version, err := s.storeWanted(ctx, store, what)
		if err != nil {
			return err
		}
		_, err = jobs.New(store, jobs.Policy{}).Post(ctx, jobs.Job{
			ID: id, Flow: what.name, Version: version, Input: input, Labels: needs, RunLabels: labels, Trace: trace, Priority: f.priority, NotBefore: after,
		})
		if err != nil {
			return unreachable(err)
		}
		job, err := store.Job(ctx, id)
		if err != nil {
			return unreachable(err)
		}
		return s.showJob(&job)
	})
}

// A wanted is what a job is to run, as it is named on the command line.
type wanted struct {
	text    string
	name    string
	version int64                    // 0 is the newest
	defs    []*definition.Definition // of a file, those that it runs behind it
}

// wanted reads FILE or FLOW[@VERSION].
func (s *session) wanted(text string) (*wanted, error) {
	w := &wanted{text: text, name: text}
	if _, err := os.Stat(text); err == nil {
		if w.defs, err = s.deployed([]string{text}); err != nil {
			return nil, err
		}
		w.name = w.defs[0].Name
	} else if before, number, ok := strings.Cut(text, "@"); ok {
		w.name = before
		if w.version, err = strconv.ParseInt(number, 10, 64); err != nil || w.version < 1 {
			return nil, usagef("%s: want FLOW@VERSION, with a number from 1 on", text)
		}
	}
	return w, nil
}

// storeWanted stores the definitions of a file and returns the version of the
// first, or returns an error when what is named is not stored.
func (s *session) storeWanted(ctx context.Context, store storage.Store, w *wanted) (version int64, err error) {
	for i, d := range w.defs {
		stored, err := store.PutDefinition(ctx, d.Definition)
		if err != nil {
			return 0, unreachable(err)
		}
		if i == 0 {
			version = stored.Version
		}
	}
	if len(w.defs) > 0 {
		return version, nil
	}
	return w.version, s.isStored(ctx, store, w.text, w.name, w.version)
}

// isStored returns an error when there is no such definition.
func (s *session) isStored(ctx context.Context, store storage.Store, what, name string, version int64) error {
	list, err := store.Definitions(ctx, name)
	if err != nil {
		return unreachable(err)
	}
	for i := range list {
		if version == 0 || list[i].Version == version {
			return nil
		}
	}
	err = fmt.Errorf("there is neither a file %s nor a stored definition of that name (ebb serve and ebb post store those in files)", what)
	return &statusError{status: exitNotFound, err: err}
}

// parseAfter returns the time that a flag names: a moment, or a while from now on.
func parseAfter(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, usagef("--after %s: want a time such as 2026-11-30T08:00:00Z, or a duration such as 90m", text)
	}
	return at, nil
}
