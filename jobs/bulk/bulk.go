// Package bulk gives one command to all runs that a filter selects. A bulk command is itself a run, of the flow that
// [Flow] returns. So it survives a crash, shows its progress, can be suspended, and lists the runs that refused.
package bulk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
)

// Name is the name of the flow whose runs are bulk commands.
const Name = "ebb.bulk"

// MaxRuns is the maximum number of runs to which one bulk command is given.
const MaxRuns = 100_000

// CodeTooMany is the error code of a bulk command whose filter selects more than [MaxRuns] runs.
const CodeTooMany = "TooManyRuns"

// An Input is the input of a bulk command.
type Input struct {
	Filter  string   `json:"filter"`           // selects the runs, see package runfilter
	Command string   `json:"command"`          // one of Commands
	Reason  string   `json:"reason,omitempty"` // for cancel and revert
	With    *Options `json:"with,omitempty"`   // what else the command says
}

// Options are what a command may say besides its name.
type Options struct {
	// Path of a step: retry resumes from it, revert undoes only what came after it, retry-revert and skip are about its
	// revert, complete about its token. If it is empty, they are about the whole run, all failed reverts, or the one
	// open token.
	Path   string     `json:"path,omitempty"`
	NoUndo bool       `json:"no_undo,omitempty"` // cancel: revert nothing
	Name   string     `json:"name,omitempty"`    // of a signal
	Data   atom.Value `json:"data,omitempty"`    // of a signal, or the result of a step; null if left out
}

// Set reports whether a command says anything besides its name.
func (o *Options) Set() bool { return o.Path+o.Name != "" || o.NoUndo || o.Data != nil }

// Commands returns the commands that many runs can get.
func Commands() []string {
	return []string{"cancel", "suspend", "resume", "retry", "revert", "retry-revert", "skip", "signal", "complete"}
}

// Check returns an error that wraps storage.ErrInvalid and names the problem if the input is not valid.
func (in *Input) Check() error {
	if !slices.Contains(Commands(), in.Command) {
		return fmt.Errorf("%w: command %.50q: want one of %v", storage.ErrInvalid, in.Command, Commands())
	}
	filter, err := runfilter.Parse(in.Filter)
	if err == nil && !slices.ContainsFunc(filter.Terms(), selects) {
		err = fmt.Errorf("%w: the filter does not say which runs to command: to command all runs, or all but some, add id:*",
			storage.ErrInvalid)
	}
	if err != nil {
		return err
	}
	switch with := in.with(); {
	case in.Command == "signal" && (with.Name == "" || len(with.Name) > backend.MaxID):
		return fmt.Errorf("%w: a signal needs a name of 1 to %d bytes", storage.ErrInvalid, backend.MaxID)
	case in.Command != "signal" && with.Name != "":
		return fmt.Errorf("%w: only a signal has a name", storage.ErrInvalid)
	case in.Command != "signal" && in.Command != "complete" && with.Data != nil:
		return fmt.Errorf("%w: only a signal and complete have data", storage.ErrInvalid)
	case in.Command != "cancel" && with.NoUndo:
		return fmt.Errorf("%w: only cancel can leave the undo out", storage.ErrInvalid)
	case with.Path != "" && slices.Contains([]string{"cancel", "suspend", "resume", "signal"}, in.Command):
		return fmt.Errorf("%w: %s is about a whole run: leave the path out", storage.ErrInvalid, in.Command)
	}
	return nil
}

// with returns the options, which may be left out.
func (in *Input) with() Options {
	if in.With == nil {
		return Options{}
	}
	return *in.With
}

// selects reports whether a term says which runs are meant. A term that only excludes runs does not, nor does one that
// any text fits, as in flow:$PREFIX* with a variable that is not set. Only id:* means all runs.
func selects(term runfilter.Filter) bool {
	text := term.String()
	_, values, _ := strings.Cut(text, ":")
	return text == "id:*" || !strings.HasPrefix(text, "-") && !strings.Contains(","+values+",", ",*,")
}

// Flow returns the flow whose runs are bulk commands. It finds the runs of the store first, and then gives each of them
// the command once, even if processes die meanwhile. If a run refuses, its item fails, and the other items continue.
// The run's symbol "answers" is an [Answers].
// Waits says what a run waits for in the terms of its language, see [inspect.WaitingSearch]; it may be nil.
func Flow(opened storage.Store, waits func(context.Context, *storage.Run) *grow.Waiting) flow.Node {
	store := backend.Of(opened)
	from := selection{store, waits}
	spans, runs := atom.NewKey[[]span]("spans"), atom.NewKey[[]string]("runs")
	divide := atom.Func(spans.Name(), func(ctx context.Context, in Input) ([]span, error) {
		return from.divide(ctx, &in, atom.CurrentCall(ctx).Run)
	}, atom.NoEffect(), atom.As(spans.Name()))
	list := atom.Func(runs.Name(), func(ctx context.Context, s spanOf) ([]string, error) { return from.list(ctx, &s) },
		atom.NoEffect(), atom.As(runs.Name()))
	give := atom.Func("give", func(ctx context.Context, one oneRun) (string, error) { return give(ctx, store, &one) })
	ofPage := atom.Func("page", pageAnswers, atom.NoEffect(), atom.As("page"))
	commands := flow.Each("commands", runs, give).Tolerate(MaxRuns).FailuresAs("refused")
	page := flow.Linear(Name+".page", list, commands, ofPage)
	all := atom.Func(AnswersPath, allAnswers, atom.NoEffect(), atom.As(AnswersPath))
	return flow.Linear(Name, divide, flow.Each("pages", spans, page).WithParallelism(1), all)
}

// spanSize is the number of runs in a span: their ids fit in one value, and all may refuse.
const spanSize = flow.MaxItemFailures

// A span is a period in which some of the runs were created. Spans do not overlap.
type span struct {
	Created string `json:"created"` // in the form of package runfilter
	By      string `json:"by"`      // id of the bulk command
}

// A spanOf is a span of the runs of a bulk command.
type spanOf struct {
	Created string `json:"created"`
	Filter  string `json:"filter"`
}

// A selection selects runs of a store.
type selection struct {
	store backend.Store
	waits func(context.Context, *storage.Run) *grow.Waiting // as for Flow
}

// divide returns the spans of the runs that the filter selects now.
func (from *selection) divide(ctx context.Context, in *Input, by string) ([]span, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	filter, err := runfilter.Parse(in.Filter)
	if err != nil {
		return nil, err
	}
	var created []time.Time
	err = from.each(ctx, filter, func(run *storage.Run) error {
		created = append(created, run.Created)
		return checkNumber(len(created))
	})
	slices.SortFunc(created, time.Time.Compare)
	spans := []span{}
	var end time.Time
	for part := range slices.Chunk(created, spanSize) {
		from := part[0].UTC()
		if from.Before(end) { // the span before has all runs of that time
			from = end
		}
		end = part[len(part)-1].UTC().Add(time.Microsecond) // which is not in the span
		if from.Before(end) {
			created := from.Format(time.RFC3339Nano) + ".." + end.Format(time.RFC3339Nano)
			spans = append(spans, span{created, by})
		}
	}
	return spans, err
}

func checkNumber(runs int) error {
	if runs <= MaxRuns {
		return nil
	}
	return &atom.Failure{Code: CodeTooMany, Message: fmt.Sprintf(
		"the filter selects more than %d runs: narrow it, such as by created:", MaxRuns)}
}

// list returns the ids of the runs in a span that the filter selects now.
func (from *selection) list(ctx context.Context, s *spanOf) ([]string, error) {
	filter, err := runfilter.Parse(s.Filter)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	within, err := runfilter.Term("created", s.Created)
	if err != nil {
		return nil, err
	}
	err = from.each(ctx, filter.And(within), func(run *storage.Run) error {
		ids = append(ids, run.ID)
		return nil
	})
	return ids, err
}

// each calls f with the runs that a filter selects, except those of bulk commands.
func (from *selection) each(ctx context.Context, filter runfilter.Filter, pass func(*storage.Run) error) error {
	const pageOfRuns = 500
	now := from.store.Now()
	waits := inspect.NewWaits(from.store, inspect.WaitingSearch{Now: now, Machine: from.waits})
	s := runfilter.Search{Filter: filter, Now: now, Limit: pageOfRuns, Waits: waits}
	for {
		page, err := runfilter.Find(ctx, from.store, s)
		if err != nil {
			return err
		}
		for i := range page.Runs {
			if run := &page.Runs[i]; !strings.HasPrefix(run.Flow, Name) {
				if err := pass(run); err != nil {
					return err
				}
			}
		}
		if s.Cursor = page.Next; page.Next.String() == "" {
			return ctx.Err()
		}
	}
}
