package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A bulkCommand is what the arguments and flags of ebb bulk say.
type bulkCommand struct {
	in     bulk.Input
	with   bulk.Options
	data   string
	revert bool
	dryRun bool
	yes    bool
	wait   bool
}

func (s subcommands) bulkCommand() *cobra.Command {
	var b bulkCommand
	cmd := &cobra.Command{
		Use:   "bulk COMMAND FILTER",
		Short: "Give a command to all runs that a filter selects",
		Long: `Give a command to all runs that a filter selects: cancel, suspend, resume, retry, revert,
retry-revert, skip, signal, complete. The filter is that of ebb list. A process that serves
the database (ebb serve) gives the commands, in a run of its own, whose id is printed: it
survives a crash, and each run gets the command once. Its result, which ebb show prints,
counts the runs that got the command, and those that refused, by their reasons. With --wait,
wait for that. With --dry-run, only say how many runs would get the command now, and how
many would refuse it, as far as their records say, and why.

--path is a step of each run: retry resumes from it, revert undoes what came after it,
retry-revert and skip are about its revert, and complete is about its token. On a terminal,
more than ` + strconv.Itoa(askFrom) + ` runs are commanded only after a question, or with --yes.`,
		Example: `  ebb bulk retry 'state:FAILURE flow:trip ended:<1h' --dry-run
  ebb bulk retry --revert 'is:person flow:trip'
  ebb bulk signal 'waits:signal=approved' --name approved --data '{"by": "ann"}' --wait
  ebb bulk cancel 'flow:trip label:team=a' --reason 'the offer has ended'`,
		Args: cobra.ExactArgs(2), //nolint:mnd // as Use says
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.readBulk(&b, args); err != nil {
				return err
			}
			ctx := cmd.Context()
			if b.dryRun {
				return s.Reading(ctx, func(store *sqlstore.Store) error { return s.previewBulk(ctx, store, b.in) })
			}
			return s.WithExisting(ctx, func(store *sqlstore.Store) error { return s.bulk(ctx, store, &b) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.in.Reason, "reason", "", "with cancel and revert: the reason, which is stored with the runs")
	flags.StringVar(&b.with.Path, "path", "", "the step that the command is about")
	flags.StringVar(&b.with.Name, "name", "", "with signal: its name")
	flags.StringVar(&b.data, "data", "",
		"with signal and complete: data, or the result: JSON, @FILE, or - for standard input (default null)")
	flags.BoolVar(&b.with.NoUndo, "no-undo", false, "with cancel: revert nothing")
	flags.BoolVar(&b.revert, "revert", false, "with retry: retry failed reverts, as retry-revert")
	flags.BoolVar(&b.dryRun, "dry-run", false, "only say how many runs would get it, and why others would refuse it")
	flags.BoolVar(&b.yes, "yes", false, "do not ask")
	flags.BoolVar(&b.wait, "wait", false, "wait until all runs have the command, and say how many refused it, and why")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "wait")
	return cmd
}

// readBulk completes and checks the input of a bulk command.
func (s subcommands) readBulk(b *bulkCommand, args []string) error {
	b.in.Command, b.in.Filter = args[0], args[1]
	if b.revert {
		if b.in.Command != "retry" {
			return exit.Usagef("--revert goes with retry, not with %s", b.in.Command)
		}
		b.in.Command = "retry-revert"
	}
	if b.data != "" {
		var err error
		if b.with.Data, err = s.Value("--data", b.data); err != nil {
			return err
		}
	}
	if b.with.Set() {
		b.in.With = &b.with
	}
	if err := b.in.Check(); err != nil {
		return exit.Usagef("%w", err)
	}
	return nil
}

// bulk posts the job of a bulk command, and may wait for its end.
func (s subcommands) bulk(ctx context.Context, store *sqlstore.Store, b *bulkCommand) error {
	if goOn, err := s.askBulk(ctx, store, b); err != nil || !goOn {
		return err
	}
	job := jobs.Job{ID: jobs.NewID(bulk.Name), Flow: bulk.Name, Input: b.in}
	if err := s.postJob(ctx, store, "bulk "+b.in.Command, job, true); err != nil || !b.wait {
		return err
	}
	ended, err := jobs.New(store, jobs.Policy{}).Await(ctx, job.ID)
	if err != nil {
		return exit.DatabaseError(err)
	}
	run, err := store.Run(ctx, ended.Run)
	if err != nil {
		return exit.DatabaseError(err)
	}
	if run.State != states.FlowSuccess {
		err := fmt.Errorf("run %s is %v: %s", run.ID, run.State, view.Cause(run.Failure))
		return &exit.Error{Status: exit.Failure, Err: err}
	}
	given, err := store.Atom(ctx, run.ID, bulk.AnswersPath)
	if err != nil {
		return exit.DatabaseError(err)
	}
	var answers bulk.Answers
	if err := given.Result.Data.Decode(&answers); err != nil {
		return err
	}
	return s.writeAnswers(&answers, "got the command", "refused it")
}

// askFrom is the number of runs that are commanded without a question.
//
//limit:scheduling `ebb bulk` on a terminal: runs commanded without a question | {} | it asks, unless `--yes` is given
const askFrom = 100

// askBulk asks a person at a terminal whether very many runs are meant.
func (s subcommands) askBulk(ctx context.Context, store backend.Store, b *bulkCommand) (goOn bool, err error) {
	if b.yes || s.Out.Terminal() == nil || !term.IsTerminal(int(os.Stdin.Fd())) {
		return true, nil
	}
	answers, err := s.askedBulk(ctx, store, b.in)
	if err != nil || answers.Runs+answers.Refusals() <= askFrom {
		return err == nil, err
	}
	return s.confirmed(os.Stdin, &answers, b.in.Command)
}

// confirmed shows what a bulk command would do, and reads the answer of a person.
func (s subcommands) confirmed(from io.Reader, answers *bulk.Answers, command string) (bool, error) {
	if err := s.writeAnswers(answers, "would get "+command, "would refuse it"); err != nil {
		return false, err
	}
	fmt.Fprint(s.Err, "Command them? [y/N] ")
	answer, err := bufio.NewReader(io.LimitReader(from, askFrom)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	yes := slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
	if !yes {
		s.Noticef("no run was commanded")
	}
	return yes, nil
}

// askedBulk returns what runs would answer to a bulk command.
func (s subcommands) askedBulk(ctx context.Context, store backend.Store, in bulk.Input) (bulk.Answers, error) {
	answers, err := bulk.Preview(ctx, store, (&definition.Catalog{Store: store}).Waits, in)
	if failed, is := errors.AsType[*atom.Failure](err); is {
		return answers, exit.Usagef("%s", failed.Message)
	}
	return answers, exit.DatabaseError(err)
}

// previewBulk prints how many runs would get a bulk command, and why others would refuse it.
func (s subcommands) previewBulk(ctx context.Context, store backend.Store, in bulk.Input) error {
	answers, err := s.askedBulk(ctx, store, in)
	if err != nil {
		return err
	}
	return s.writeAnswers(&answers, "would get the command", "would refuse it")
}

// writeAnswers prints how many runs get a command, and why others refuse it.
func (s subcommands) writeAnswers(a *bulk.Answers, get, refuse string) error {
	if err := s.Emit(a, "%s %s", view.Count(a.Runs, "run"), get); err != nil || s.JSON() {
		return err
	}
	for i := range a.Refused {
		r := &a.Refused[i]
		if err := s.Emit(nil, "%s %s: %s (such as %s)", view.Count(r.Runs, "run"), refuse, visible.Line(r.Why),
			visible.Line(strings.Join(r.Such, ", "))); err != nil {
			return err
		}
	}
	return nil
}
