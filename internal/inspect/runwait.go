package inspect

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A RunWait is one thing that a run waits for, as a list of runs says it.
type RunWait struct {
	WaitName

	Path    string // path of the first atom that waits for it; "" if the run itself waits
	Worker  string // worker that has the work; "" if none has
	Unasked bool   // no worker asks for the work, and none has it

	said string // the sentence of a hindrance; "" otherwise
}

// listedRecords is the maximum number of atoms, tokens and timers that Describe reads of all runs together.
const listedRecords = 1000

// Describe returns what each of the runs waits for, and reads a bounded number of atoms: of runs with very many it may
// tell nothing. A run that has ended, or needs a person, waits for nothing. Errors are the store's.
func (w *Waits) Describe(ctx context.Context, runs []storage.Run) ([][]RunWait, error) {
	found := make([][]RunWait, len(runs))
	at := map[string]int{}
	var open []storage.Run
	for i := range runs {
		if at[runs[i].ID] = i; !runs[i].State.Ended() {
			open = append(open, runs[i])
		}
	}
	if len(open) == 0 {
		return found, nil
	}
	if err := w.readFacts(ctx); err != nil {
		return nil, err
	}
	list, cut, err := w.store.InProgress(ctx, open, listedRecords)
	if err != nil {
		return nil, err
	}
	g := *w.facts
	g.groups = map[WaitName]*WaitGroup{}
	g.counted = func(run string, one RunWait) {
		_, asked := g.pollers[one.Name]
		one.Unasked = one.Kind == WaitsForWorker && one.Worker == "" && !asked
		found[at[run]] = append(found[at[run]], one)
	}
	for i := range open {
		if p := &list[i]; cut && len(p.Atoms)+len(p.Tokens)+len(p.Timers) == 0 {
			continue // it may have been left out
		}
		if err := g.addRun(ctx, &open[i], &list[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Hinders reports whether the run could go on, but no process drives it, and none takes it up now.
func (r *RunWait) Hinders() bool { return r.said != "" && r.Kind != WaitsForTake }

// Sentence describes the wait for people, such as: Review waits for workers of "review"; no worker asks for it.
func (r *RunWait) Sentence() string {
	subject := ""
	if r.Path != "" {
		subject = visible.Line(r.Path) + " "
	}
	switch {
	case r.said != "":
		return r.said
	case r.Kind == WaitsForExecution:
		return subject + "executes"
	case r.Kind == WaitsForRevert:
		return subject + "is being undone"
	default:
		return subject + "waits for " + r.what()
	}
}

// what describes for what one run waits.
func (r *RunWait) what() string {
	switch r.Kind {
	case WaitsForOperator:
		return "an operator, who suspended it"
	case WaitsForToken:
		return "the holder of its token"
	case WaitsForRun:
		return "the run that it began"
	case WaitsForDeadline:
		return "its deadline, " + (&WaitGroup{Name: r.Name}).soon()
	case WaitsForWorker:
		switch {
		case r.Worker != "" && r.Worker != backend.Anonymous:
			return quoted(r.Worker) + ", a worker of " + quoted(r.Name) + " that has the work"
		case r.Worker != "":
			return "a worker of " + quoted(r.Name) + " that has the work"
		case r.Unasked:
			return "workers of " + quoted(r.Name) + "; no worker asks for it"
		}
		return "workers of " + quoted(r.Name)
	default:
		return (&WaitGroup{Kind: r.Kind, Name: r.Name}).Sentence()
	}
}
