package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A store has the atoms of a run in the order of their paths, with values. One pass over the paths below a place finds
// the children directly below it, their order, and the number of items of each.

const (
	// mostScanned is the maximum number of atoms of one pass, which takes about a second.
	mostScanned = 400_000
	// mostInside is the number of atoms inside one child that are read before the pass continues after the child.
	mostInside = 150_000
)

// A scanned holds the results of a pass for a child of a place.
type scanned struct {
	path   string // in the run of the place
	name   string // below the place
	number int    // number of an item, or -1
	began  time.Time
	status storage.Status
	atom   bool   // it has an atom; otherwise the status is the most important one inside
	inside int    // atoms inside of it
	strip  Strip  // of its items
	run    string // id of the run that it started, whose steps are shown below it
}

// A levelScan is a pass over the atoms below a place.
type levelScan struct {
	place   *Place
	byPath  map[string]*scanned
	all     []*scanned
	read    int
	partial bool // there are atoms that were not read
}

// scanLevel finds the children directly below a place, in the order of the level: named ones by their start, and then
// the items by their numbers.
func scanLevel(ctx context.Context, store backend.Reader, place *Place) (*levelScan, error) {
	l := &levelScan{place: place, byPath: map[string]*scanned{}}
	prefixes := []string{""}
	if place.Path != "" {
		prefixes = []string{place.Path + "/", place.Path + "["}
	}
	for _, prefix := range prefixes {
		if err := l.pass(ctx, store, prefix); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.all, compareScanned)
	return l, nil
}

func compareScanned(a, b *scanned) int {
	if a.began.IsZero() != b.began.IsZero() && a.number < 0 && b.number < 0 {
		return b.began.Compare(a.began) // children that have not started come last
	}
	if a.number < 0 && b.number < 0 {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.name, b.name))
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
}

// pass reads the atoms whose paths begin with the prefix.
func (l *levelScan) pass(ctx context.Context, store backend.Reader, prefix string) error {
	for after := prefix; ; {
		next := ""
		for a, err := range storage.EachAtom(ctx, store, l.place.Run.ID, storage.AtomQuery{After: after}) {
			if err != nil {
				return err
			}
			if !strings.HasPrefix(a.Path, prefix) {
				return nil
			}
			if l.read++; l.read > mostScanned {
				l.partial = true
				return nil
			}
			if next = l.take(&a); next != "" {
				break
			}
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// take adds an atom. If the child around it needs no more atoms, it returns a path after the child.
func (l *levelScan) take(a *storage.Atom) (behind string) {
	path, depth, ok := l.childOf(a.Path)
	if !ok {
		return ""
	}
	c := l.child(path)
	status := a.Status()
	if depth == 0 {
		c.atom, c.status, c.began, c.run = true, status, a.StartedAt, childRun(l.place.Run.ID, a)
		return ""
	}
	c.inside++
	if !c.atom {
		if c.status == "" || Compare(status, c.status) < 0 {
			c.status = status
		}
		if c.began.IsZero() || !a.StartedAt.IsZero() && a.StartedAt.Before(c.began) {
			c.began = a.StartedAt
		}
	}
	if depth == 1 {
		if _, numbered := numberOf(lastName(a.Path)); numbered {
			c.strip = c.strip.with(status)
		}
	}
	if c.inside < mostInside {
		return ""
	}
	c.strip.More = c.strip.Counts != nil
	if strings.HasPrefix(a.Path, path+"/") {
		return path + "/\U0010FFFF"
	}
	return path + "[9\U0010FFFF"
}

// childOf returns the path of the child of the place through which a path leads, and how far below the child it ends.
func (l *levelScan) childOf(path string) (child string, depth int, ok bool) {
	if path == flow.GrowingPath {
		return "", 0, false
	}
	for ; path != ""; depth++ {
		above, _ := CutPath(path)
		if above == l.place.Path {
			return path, depth, true
		}
		if len(above) <= len(l.place.Path) {
			break // a name with the place as its prefix
		}
		path = above
	}
	return "", 0, false
}

// child returns the child of a path, and adds it if it is new.
func (l *levelScan) child(path string) *scanned {
	if c := l.byPath[path]; c != nil {
		return c
	}
	c := &scanned{path: path, name: lastName(path), number: -1}
	if n, numbered := numberOf(c.name); numbered {
		c.number = n
	}
	l.byPath[path] = c
	l.all = append(l.all, c)
	return c
}

// at returns a copy of the scan for a reader.
func (l *levelScan) at(place *Place) *levelScan {
	of := *l
	of.place = place
	return &of
}

// after returns the scan with the changes of the history after a number of lines. It reads the children that have
// changed, and all atoms inside a child if something changed there. It returns false if the whole place must be read.
func (l *levelScan) after(
	ctx context.Context, store backend.Reader, place *Place, lines int64,
) (next *levelScan, ok bool, err error) {
	if l == nil || place.Run.Entries < lines {
		return nil, false, nil
	}
	changed, ok, err := l.changed(ctx, store, place, lines)
	if err != nil || !ok {
		return nil, false, err
	}
	fresh := &levelScan{place: place, byPath: make(map[string]*scanned, len(changed))}
	for path, inside := range changed {
		if old := l.byPath[path]; old != nil && !inside {
			c := *old
			c.atom = false // until the atom is read
			fresh.byPath[path] = &c
			continue
		}
		for _, prefix := range []string{path + "/", path + "["} {
			if err := fresh.pass(ctx, store, prefix); err != nil {
				return nil, false, err
			}
		}
	}
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(changed)), atomsAtOnce) {
		atoms, err := store.AtomsAt(ctx, place.Run.ID, paths...)
		if err != nil {
			return nil, false, err
		}
		for i := range atoms {
			fresh.take(&atoms[i])
		}
	}
	for path, now := range fresh.byPath {
		if old := l.byPath[path]; old != nil && old.atom && !now.atom { // its atom was removed
			return nil, false, nil
		}
	}
	if fresh.partial {
		return nil, false, nil
	}
	return l.with(fresh), true, nil
}

// changed returns the paths of the children that the history names after a number of lines, and whether something
// inside them changed. It returns false if the history has very many lines.
func (l *levelScan) changed(
	ctx context.Context, store backend.Reader, place *Place, lines int64,
) (changed map[string]bool, ok bool, err error) {
	changed, n := map[string]bool{}, 0
	for e, err := range storage.EachEntry(ctx, store, place.Run.ID, lines) {
		if n++; err != nil || n > mostChanges {
			return nil, false, err
		}
		switch e.Kind {
		case storage.EntryAtom, storage.EntryStays, storage.EntryMayStay:
			if path, depth, isBelow := l.childOf(e.Path); isBelow {
				changed[path] = changed[path] || depth > 0
			}
		default:
		}
	}
	return changed, true, nil
}

// with returns the scan with children that were read again. The result then owns the map of l.
func (l *levelScan) with(fresh *levelScan) *levelScan {
	next := *l
	next.all = slices.Clone(l.all)
	for i, c := range next.all {
		if now := fresh.byPath[c.path]; now != nil {
			next.all[i] = now
		}
	}
	for path, c := range fresh.byPath {
		if l.byPath[path] == nil {
			next.all = append(next.all, c)
		}
		l.byPath[path] = c
	}
	slices.SortFunc(next.all, compareScanned)
	return &next
}

// lastName returns the name of a step below the step above it.
func lastName(path string) string {
	_, name := CutPath(path)
	return name
}

// strip counts the items of the place.
func (l *levelScan) strip() Strip {
	s := Strip{More: l.partial}
	for _, c := range l.all {
		if c.number >= 0 {
			s = s.with(c.status)
		}
	}
	return s
}
