// Package bulk gives one command to all runs that a filter selects. A bulk command is itself a run, of the flow that
// [Flow] returns. So it survives a crash, shows its progress, can be suspended, and lists the runs that refused.
package bulk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
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
	Filter  string `json:"filter"`           // selects the runs, see package runfilter
	Command string `json:"command"`          // one of Commands
	Reason  string `json:"reason,omitempty"` // for cancel and revert
}

// Commands returns the commands that many runs can get.
func Commands() []string { return []string{"cancel", "suspend", "resume", "retry", "revert"} }

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
	return err
}

// selects reports whether a term says which runs are meant. A term that only excludes runs does not, nor does one that
// any text fits, as in flow:$PREFIX* with a variable that is not set. Only id:* means all runs.
func selects(term runfilter.Filter) bool {
	text := term.String()
	_, values, _ := strings.Cut(text, ":")
	return text == "id:*" || !strings.HasPrefix(text, "-") && !strings.Contains(","+values+",", ",*,")
}

// command returns the command for each run, with the bulk command as its sender.
func (in *Input) command(by string) engine.Command {
	issuer := storage.Issuer{Via: storage.ViaBulk, Name: by}
	switch in.Command {
	case "cancel":
		return engine.Cancel(in.Reason).By(issuer)
	case "suspend":
		return engine.Hold().By(issuer)
	case "revert":
		return engine.Revert(in.Reason).By(issuer)
	case "resume":
		return engine.Resume().By(issuer)
	default:
		return engine.RetryFrom("").By(issuer)
	}
}

// Flow returns the flow whose runs are bulk commands. It finds the runs of the store first, and then gives each of them
// the command once, even if processes die meanwhile. If a run refuses, its item fails, and the other items continue.
// Waits says what a run waits for in the terms of its language, see [inspect.WaitingSearch]; it may be nil.
func Flow(opened storage.Store, waits func(context.Context, *storage.Run) *flow.Waiting) flow.Node {
	store := backend.Of(opened)
	from := selection{store, waits}
	spans, runs := atom.NewKey[[]span]("spans"), atom.NewKey[[]string]("runs")
	divide := atom.Func(spans.Name(), func(ctx context.Context, in Input) ([]span, error) {
		return from.divide(ctx, &in, atom.CurrentCall(ctx).Run)
	}, atom.NoEffect(), atom.As(spans.Name()))
	list := atom.Func(runs.Name(), func(ctx context.Context, s spanOf) ([]string, error) { return from.list(ctx, &s) },
		atom.NoEffect(), atom.As(runs.Name()))
	give := atom.Func("give", func(ctx context.Context, one oneRun) (string, error) { return give(ctx, store, &one) })
	page := flow.Linear(Name+".page", list, flow.Each("commands", runs, give).Tolerate(MaxRuns).FailuresAs("refused"))
	return flow.Linear(Name, divide, flow.Each("pages", spans, page).WithParallelism(1))
}

// spanSize is the number of runs in a span: their ids fit in one value.
const spanSize = 2000

// A span is a period in which some of the runs were created. Spans may overlap, because a run gets the command once.
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
	waits func(context.Context, *storage.Run) *flow.Waiting // as for Flow
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
	for part := range slices.Chunk(created, spanSize) {
		from, to := part[0].UTC(), part[len(part)-1].UTC().Add(time.Microsecond) // the end is not in the span
		spans = append(spans, span{from.Format(time.RFC3339Nano) + ".." + to.Format(time.RFC3339Nano), by})
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

// Count returns to how many runs a bulk command would now be given, without those whose records exclude the command.
// Waits is as for [Flow]. If the filter selects too many runs, Count returns a failure with [CodeTooMany].
func Count(
	ctx context.Context, opened storage.Store, waits func(context.Context, *storage.Run) *flow.Waiting, in Input,
) (count int, err error) {
	if err := in.Check(); err != nil {
		return 0, err
	}
	filter, err := runfilter.Parse(in.Filter)
	if err != nil {
		return 0, err
	}
	from, selected := selection{backend.Of(opened), waits}, 0
	err = from.each(ctx, filter, func(run *storage.Run) error {
		selected++
		if inspect.Refusal(run, in.Command) == "" {
			count++
		}
		return checkNumber(selected)
	})
	return count, err
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

// oneRun is a run that gets the command.
type oneRun struct {
	Item string `json:"item"` // id of the run

	Command string `json:"command"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by"`
}

// give gives the command to a run, unless the run's record excludes it. A repetition after a crash counts once.
func give(ctx context.Context, store backend.Store, one *oneRun) (string, error) {
	run, err := store.Run(ctx, one.Item)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(one.By))
	key := "bulk/" + hex.EncodeToString(sum[:16])
	why := inspect.Refusal(&run, one.Command)
	if why != "" { // unless the command itself had that effect, before the process died
		if received, err := store.Received(ctx, run.ID, key); received || err != nil {
			return "sent", err
		}
		return "", &atom.Failure{Code: atom.CodeRefused, Message: fmt.Sprintf("run %s is %v: %s", run.ID, run.State, why)}
	}
	in := Input{Command: one.Command, Reason: one.Reason}
	return "sent", engine.SendOnce(ctx, store, run.ID, key, in.command(one.By))
}
