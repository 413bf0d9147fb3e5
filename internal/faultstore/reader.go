package faultstore

import (
	"context"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func (f *store) Run(ctx context.Context, id string) (storage.Run, error) {
	return answer(ctx, f, Call{Method: "Run", Run: id}, func() (storage.Run, error) { return f.Store.Run(ctx, id) })
}

func (f *store) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	return answer(ctx, f, Call{Method: "Runs"}, func() ([]storage.Run, error) { return f.Store.Runs(ctx, q) })
}

func (f *store) Events(ctx context.Context, run string, q storage.EventQuery) ([]storage.Entry, error) {
	return answer(ctx, f, Call{Method: "Events", Run: run}, func() ([]storage.Entry, error) {
		return f.Store.Events(ctx, run, q)
	})
}

func (f *store) Look(ctx context.Context, q storage.RunQuery, most int) (backend.LookResult, error) {
	return answer(ctx, f, Call{Method: "Look"}, func() (backend.LookResult, error) { return f.Store.Look(ctx, q, most) })
}

func (f *store) Tally(ctx context.Context, q storage.RunQuery, t backend.TallyQuery) (backend.Tally, error) {
	return answer(ctx, f, Call{Method: "Tally"}, func() (backend.Tally, error) { return f.Store.Tally(ctx, q, t) })
}

func (f *store) InProgress(ctx context.Context, runs []storage.Run, most int) (
	list []backend.Progress, cut bool, err error,
) {
	list, err = answer(ctx, f, Call{Method: "InProgress"}, func() (list []backend.Progress, err error) {
		list, cut, err = f.Store.InProgress(ctx, runs, most)
		return list, err
	})
	return list, cut, err
}

func (f *store) CountRuns(ctx context.Context, q storage.RunQuery) (int, error) {
	return answer(ctx, f, Call{Method: "CountRuns"}, func() (int, error) { return f.Store.CountRuns(ctx, q) })
}

func (f *store) Atoms(ctx context.Context, run string, q storage.AtomQuery) ([]storage.Atom, error) {
	return answer(ctx, f, Call{Method: "Atoms", Run: run}, func() ([]storage.Atom, error) {
		return f.Store.Atoms(ctx, run, q)
	})
}

func (f *store) AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error) {
	return answer(ctx, f, Call{Method: "AtomsAt", Run: run}, func() ([]storage.Atom, error) {
		return f.Store.AtomsAt(ctx, run, paths...)
	})
}

func (f *store) Atom(ctx context.Context, run, path string) (storage.Atom, error) {
	return answer(ctx, f, Call{Method: "Atom", Run: run}, func() (storage.Atom, error) {
		return f.Store.Atom(ctx, run, path)
	})
}

func (f *store) Tries(ctx context.Context, run, path string) (atom.History, error) {
	return answer(ctx, f, Call{Method: "Tries", Run: run}, func() (atom.History, error) {
		return f.Store.Tries(ctx, run, path)
	})
}

func (f *store) History(ctx context.Context, run string, after int64, limit int) ([]storage.Entry, error) {
	return answer(ctx, f, Call{Method: "History", Run: run}, func() ([]storage.Entry, error) {
		return f.Store.History(ctx, run, after, limit)
	})
}

func (f *store) Undos(ctx context.Context, run string, below int64, limit int) ([]storage.Undo, error) {
	return answer(ctx, f, Call{Method: "Undos", Run: run}, func() ([]storage.Undo, error) {
		return f.Store.Undos(ctx, run, below, limit)
	})
}

func (f *store) RunTimers(ctx context.Context, run string) ([]storage.TimerRow, error) {
	return answer(ctx, f, Call{Method: "RunTimers", Run: run}, func() ([]storage.TimerRow, error) {
		return f.Store.RunTimers(ctx, run)
	})
}

func (f *store) RunTokens(ctx context.Context, run string) ([]storage.Token, error) {
	return answer(ctx, f, Call{Method: "RunTokens", Run: run}, func() ([]storage.Token, error) {
		return f.Store.RunTokens(ctx, run)
	})
}

func (f *store) Token(ctx context.Context, id string) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "Token"}, func() (storage.Token, error) { return f.Store.Token(ctx, id) })
}

func (f *store) OpenRun(ctx context.Context, key string) (string, error) {
	return answer(ctx, f, Call{Method: "OpenRun"}, func() (string, error) { return f.Store.OpenRun(ctx, key) })
}

func (f *store) StrayKeys(ctx context.Context, limit int) ([]string, error) {
	return answer(ctx, f, Call{Method: "StrayKeys"}, func() ([]string, error) { return f.Store.StrayKeys(ctx, limit) })
}

func (f *store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
	return answer(ctx, f, Call{Method: "Labeled"}, func() (map[string][]string, error) {
		return f.Store.Labeled(ctx, value, keys...)
	})
}

func (f *store) Descendants(ctx context.Context, root string) (int64, error) {
	return answer(ctx, f, Call{Method: "Descendants", Run: root}, func() (int64, error) {
		return f.Store.Descendants(ctx, root)
	})
}

func (f *store) Purge(ctx context.Context, runs ...string) (int, error) {
	return answer(ctx, f, Call{Method: "Purge"}, func() (int, error) { return f.Store.Purge(ctx, runs...) })
}

func (f *store) OwnedRuns(ctx context.Context) (map[string]int, error) {
	return answer(ctx, f, Call{Method: "OwnedRuns"}, func() (map[string]int, error) { return f.Store.OwnedRuns(ctx) })
}

func (f *store) Owners(ctx context.Context) ([]storage.Owner, error) {
	return answer(ctx, f, Call{Method: "Owners"}, func() ([]storage.Owner, error) { return f.Store.Owners(ctx) })
}
