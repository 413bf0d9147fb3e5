package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A LevelQuery selects a part of one level of the tree of a run.
type LevelQuery struct {
	Below string // path of the step whose children the level has; "" is the run
	From  int    // number of the first row, from 0
	After string // path of the row before the first one; it counts instead of From if the level has it
	Limit int    // maximum number of rows, 1 or more
}

// A Level is a part of one level of the tree of a run: atoms, and what only contains atoms. What has a name comes in
// the order in which it began, and then come items by their numbers. A row stands for everything below it. So a Map of
// 100,000 items is one row, and its strip says how the items stand. Each atom of a run is in one level, once.
type Level struct {
	Below   string `json:"below"`            // path of the step whose children these are; "" is the run
	From    int    `json:"from"`             // number of the first row in the level, from 0
	Total   int    `json:"total"`            // rows of the whole level
	Partial bool   `json:"partial,omitzero"` // the level has more rows: it was read up to a number of atoms
	Rows    []Row  `json:"steps"`
	Next    string `json:"next,omitempty"` // path for After, for the next part; "" if there is none
}

// A Row is a step in a [Level]. Times are in UTC.
type Row struct {
	Path     string    `json:"path"`               // place in the tree of the run
	Name     string    `json:"name"`               // place below the row above it
	Kind     string    `json:"kind,omitempty"`     // as of [Atom]; "" if it has no atom and only contains others
	Run      string    `json:"run,omitempty"`      // id of the run that the latest attempt began
	Status   string    `json:"status"`             // what became of it; without an atom, of what matters most inside
	Attempt  int       `json:"attempt,omitempty"`  // counted from 1
	Started  time.Time `json:"started,omitzero"`   // start of the latest attempt
	Ended    time.Time `json:"ended,omitzero"`     // end of the latest attempt
	Due      time.Time `json:"due,omitzero"`       // when what it waits for ends
	Progress float64   `json:"progress,omitempty"` // that the task reported, from 0 to 1
	Failure  *Failure  `json:"failure,omitempty"`  // of the latest failed attempt; if the revert failed, of the revert
	Steps    bool      `json:"steps,omitzero"`     // there is a level below it
	Items    *Strip    `json:"items,omitempty"`    // how its items stand; nil if it has none
}

// ReadLevel reads a part of a level. It reads the atoms below the path in one pass, at most 400,000 of them, and keeps
// little of each. A path that leads nowhere is an empty level. Errors are the store's. [Levels] reads a level again.
func ReadLevel(ctx context.Context, store backend.Reader, run *storage.Run, q LevelQuery) (*Level, error) {
	return new(Levels).Read(ctx, store, run, q)
}

// level returns a part of the level that was scanned.
func (ls *Levels) level(ctx context.Context, store backend.Reader, l *levelScan, q LevelQuery) (out *Level, err error) {
	out = &Level{
		Below: q.Below, Total: len(l.all), Partial: l.partial, From: min(max(q.From, 0), len(l.all)),
	}
	if q.After != "" {
		at := slices.IndexFunc(l.all, func(c *scanned) bool { return l.place.Prefix+c.path == q.After })
		if at >= 0 {
			out.From = at + 1
		}
	}
	shown := l.all[out.From:min(out.From+max(q.Limit, 1), len(l.all))]
	if out.Rows, err = ls.rows(ctx, store, l, shown); err != nil {
		return nil, err
	}
	if n := len(shown); n > 0 && out.From+n < len(l.all) {
		out.Next = out.Rows[n-1].Path
	}
	return out, nil
}

// entered returns the place inside of the run that the atom at the place began; the place itself if it began none.
func (p Place) entered(ctx context.Context, store backend.Reader) (Place, error) {
	if p.Path == "" {
		return p, nil
	}
	atoms, err := store.AtomsAt(ctx, p.Run.ID, p.Path)
	if err != nil || len(atoms) == 0 || childRun(p.Run.ID, &atoms[0]) == "" {
		return p, err
	}
	return p.into(ctx, store, &atoms[0])
}

// rows returns the rows of some children of the place that was scanned.
func (ls *Levels) rows(ctx context.Context, store backend.Reader, l *levelScan, shown []*scanned) ([]Row, error) {
	rows, at := make([]Row, 0, len(shown)), map[string]int{}
	for _, c := range shown {
		r := Row{Path: l.place.Prefix + c.path, Name: c.name, Status: string(c.status), Steps: c.inside > 0}
		if c.strip.Counts != nil {
			r.Items = &c.strip
		}
		at[c.path] = len(rows)
		rows = append(rows, r)
	}
	for some := range slices.Chunk(shown, atomsAtOnce) {
		paths := make([]string, len(some))
		for i, c := range some {
			paths[i] = c.path
		}
		atoms, err := store.AtomsAt(ctx, l.place.Run.ID, paths...)
		if err != nil {
			return nil, err
		}
		for i := range atoms {
			rows[at[atoms[i].Path]].fill(AtomOf(&l.place.Run, &atoms[i]))
		}
	}
	left, read := maxChildRuns, l.read
	for i, c := range shown {
		if c.run == "" {
			continue
		}
		rows[i].Steps = true
		if left--; left < 0 || read > mostScanned {
			continue
		}
		inside, err := ls.inside(ctx, store, c.run)
		if err != nil {
			return nil, err
		}
		read += inside.read
		if s := inside.strip(); len(s.Counts) > 0 {
			rows[i].Items = &s
		}
	}
	return rows, nil
}

// inside returns the children of a run that an atom began. There are none if the run was purged.
func (ls *Levels) inside(ctx context.Context, store backend.Reader, run string) (*levelScan, error) {
	child, err := store.Run(ctx, run)
	if errors.Is(err, storage.ErrNotFound) {
		return &levelScan{}, nil
	}
	if err != nil {
		return nil, err
	}
	return ls.scan(ctx, store, &Place{Run: child})
}

// fill adds the data of an atom.
func (r *Row) fill(a Atom) {
	r.Kind, r.Run, r.Status, r.Attempt, r.Failure = a.Kind, a.Run, a.Status, a.Attempt, a.Failure
	if a.RevertFailure != nil && a.State == states.TaskRevertFailure.String() {
		r.Failure = a.RevertFailure
	}
	r.Started, r.Ended, r.Due, r.Progress = a.Started, a.Ended, a.Due, a.Progress
}
