package command

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

const (
	// completionTime is how long the shell waits for what could be meant.
	completionTime = 500 * time.Millisecond
	// completionReads is how many records are searched, the newest ones.
	completionReads = 500
	// completionOffers is how many of them are offered.
	completionOffers = 100
)

// candidates are what a word could be, each with a description behind a tab. The arguments before it are given.
type candidates func(ctx context.Context, store *sqlstore.Store, args []string) ([]string, error)

// wordCandidates are the candidates of the words in the line that says how a command is used.
var wordCandidates = map[string]candidates{
	"RUN": runCandidates, "ATOM": atomCandidates, "JOB": jobCandidates, "ID": scheduleCandidates, "FLOW": flowCandidates,
}

// flagValues are the values of flags that have few.
var flagValues = map[string][]string{
	"output": {"text", "json"}, "log-format": {"text", "json"}, "log-level": {"debug", "info", "warn", "error", "off"},
	"profile": {"aws", "spec2016"}, "file-mode": {"private", "folder"}, "expect": restStates,
	"state": {"PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTED", "SUSPENDING", "SUSPENDED"},
}

// offerWords lets the shell complete the arguments and flags of a command and of its subcommands.
func (s subcommands) offerWords(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		s.offerWords(sub)
	}
	if words := strings.Fields(cmd.Use)[1:]; len(words) > 0 && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(words) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			word := strings.Trim(words[len(args)], "[]")
			rest := cobra.ShellCompDirectiveNoFileComp
			if strings.Contains(word, "FILE") {
				rest = cobra.ShellCompDirectiveDefault
			}
			var offers []string
			for kind := range strings.SplitSeq(word, "|") {
				kind, _, _ = strings.Cut(kind, "[")
				if find := wordCandidates[kind]; find != nil {
					offers = append(offers, s.offers(cmd, find, args, begun)...)
				}
			}
			return offers, rest
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values, fixed := flagValues[f.Name]
		if !fixed && f.Name != "flow" {
			return
		}
		// It fails only for a flag that is not there, or twice.
		_ = cmd.RegisterFlagCompletionFunc(f.Name,
			func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				if fixed {
					return values, cobra.ShellCompDirectiveNoFileComp
				}
				return s.offers(cmd, flowCandidates, args, begun), cobra.ShellCompDirectiveNoFileComp
			})
	})
}

// offers returns the candidates that begin as a word does. It creates and migrates no database, and says nothing of
// what is wrong: the command will.
func (s subcommands) offers(cmd *cobra.Command, find candidates, args []string, begun string) []string {
	ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
	defer stop()
	s.Err = &view.Output{To: io.Discard, JSON: func() bool { return false }}
	if err := s.Settle(cmd); err != nil {
		return nil
	}
	var found []string
	err := s.WithStore(ctx, func(store *sqlstore.Store) (err error) {
		found, err = find(ctx, store, args)
		return err
	}, sqlstore.ReadOnly())
	if err != nil {
		return nil
	}
	found = slices.DeleteFunc(found, func(c string) bool {
		name, _, _ := strings.Cut(c, "\t")
		return !strings.HasPrefix(name, begun) || !visible.All(name)
	})
	return found[:min(len(found), completionOffers)]
}

func runCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	runs, err := store.Runs(ctx, storage.RunQuery{Top: true, Limit: completionReads})
	var all []string
	for i := range runs {
		all = append(all, runs[i].ID+"\t"+runs[i].Flow+" "+runs[i].State.String())
	}
	return all, err
}

// atomCandidates offers the atoms of the run that stands before them: those whose revert failed first.
func atomCandidates(ctx context.Context, store *sqlstore.Store, args []string) ([]string, error) {
	atoms, err := store.Atoms(ctx, args[0], storage.AtomQuery{Limit: completionReads})
	slices.SortStableFunc(atoms, func(a, b storage.Atom) int {
		failed := func(s states.Task) int {
			if s == states.TaskRevertFailure {
				return 0
			}
			return 1
		}
		return failed(a.State) - failed(b.State)
	})
	var all []string
	for i := range atoms {
		if atoms[i].Path == flow.GrowingPath { // it only holds the others
			continue
		}
		all = append(all, atoms[i].Path+"\t"+atoms[i].State.String())
	}
	return all, err
}

func jobCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	open := []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}
	jobs, err := store.JobList(ctx, storage.JobQuery{States: open, Limit: completionReads})
	var all []string
	for i := range jobs {
		all = append(all, jobs[i].ID+"\t"+jobs[i].Flow+" "+jobs[i].State.String())
	}
	return all, err
}

func scheduleCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	schedules, err := store.Schedules(ctx)
	var all []string
	for i := range schedules {
		all = append(all, schedules[i].ID+"\t"+schedules[i].Flow+" "+schedules[i].Spec)
	}
	return all, err
}

// flowCandidates offers the flows that are stored, and those of the newest runs, which may be in Go programs.
func flowCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	names := map[string]bool{}
	defs, err := store.Definitions(ctx, "")
	for i := range defs {
		names[defs[i].Name] = true
	}
	if err != nil {
		return nil, err
	}
	runs, err := store.Runs(ctx, storage.RunQuery{Limit: completionReads})
	for i := range runs {
		names[runs[i].Flow] = true
	}
	var all []string
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all, err
}
