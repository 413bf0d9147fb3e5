package command

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func runCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	return runsLike(ctx, store, storage.RunQuery{Top: true})
}

// openStates are the states of runs that have not ended.
var openStates = []states.Flow{
	states.FlowPending, states.FlowRunning, states.FlowSuspending, states.FlowSuspended, states.FlowResuming,
}

// openCandidates offers the runs that have not ended.
func openCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	return runsLike(ctx, store, storage.RunQuery{States: openStates})
}

func runsLike(ctx context.Context, store *sqlstore.Store, q storage.RunQuery) ([]string, error) {
	q.Limit = completionReads
	runs, err := store.Runs(ctx, q)
	var all []string
	for i := range runs {
		all = append(all, runs[i].ID+"\t"+runs[i].Flow+" "+runs[i].State.String())
	}
	return all, err
}

// stateCandidates offers the states of the machine whose run precedes them on the command line.
func stateCandidates(ctx context.Context, store *sqlstore.Store, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	run, err := store.Run(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if m := machineOf(ctx, store, &run); m != nil {
		return m.Outline(), nil
	}
	return atomCandidates(ctx, store, args)
}

// signalCandidates offers the signals for which the run that precedes them on the command line waits.
func signalCandidates(ctx context.Context, store *sqlstore.Store, args []string) ([]string, error) {
	run, err := store.Run(ctx, args[0])
	if err != nil {
		return nil, err
	}
	w, err := diagnosisOf(ctx, store, run)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, wake := range w.Wakes(w.Waits(time.Now())) {
		if wake.Event != "" {
			all = append(all, wake.Event)
		}
	}
	return all, nil
}

// tokenCandidates offers the open tokens of the newest runs that have not ended.
func tokenCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	var all []string
	err := openTokens(ctx, store, func(t *storage.Token) {
		if t.Queue == "" {
			all = append(all, t.ID+"\t"+t.Run+" "+t.Path)
		}
	})
	return all, err
}

// queueCandidates offers the task queues of workers that have work of the newest open runs.
func queueCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	queues := map[string]bool{}
	err := openTokens(ctx, store, func(t *storage.Token) {
		if t.Queue != "" {
			queues["worker:"+t.Queue] = true
		}
	})
	return slices.Sorted(maps.Keys(queues)), err
}

// openTokens passes the open tokens of the newest open runs, as long as the shell waits.
func openTokens(ctx context.Context, store *sqlstore.Store, pass func(*storage.Token)) error {
	runs, err := store.Runs(ctx, storage.RunQuery{States: openStates, Limit: completionOffers})
	for i := range runs {
		tokens, err := store.RunTokens(ctx, runs[i].ID)
		if err != nil {
			return err
		}
		for j := range tokens {
			pass(&tokens[j])
		}
	}
	return err
}

// atomCandidates offers the atoms of the run that precedes them on the command line. Atoms whose revert failed come
// first.
func atomCandidates(ctx context.Context, store *sqlstore.Store, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
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
		if atoms[i].Path == flow.GrowingPath { // it only contains the other atoms
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
	schedules, err := store.Schedules(ctx, backend.ScheduleQuery{Limit: completionReads})
	var all []string
	for i := range schedules {
		all = append(all, schedules[i].ID+"\t"+schedules[i].Flow+" "+schedules[i].Spec)
	}
	return all, err
}

// flowCandidates offers the flows that are stored, and those of the newest runs, which may be in Go programs.
func flowCandidates(ctx context.Context, store *sqlstore.Store, _ []string) ([]string, error) {
	names := map[string]bool{}
	defs, err := backend.DefinitionNames(ctx, store, completionReads)
	for _, name := range defs {
		names[name] = true
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
