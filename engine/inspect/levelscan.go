package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A store has the atoms of a run in the order of their paths, and values beside them. One pass over the paths below a
// place finds what is directly below it, in which order it began, and how many items each has.

const (
	// mostScanned is how many atoms one pass reads. They are read in about a second.
	mostScanned = 400_000
	// mostInside is how many atoms inside of one child are read, before the pass goes on behind the child.
	mostInside = 150_000
)

// A scanned is what a pass knows of a child of a place.
type scanned struct {
	path   string // in the run of the place
	name   string // below the place
	number int    // of an item; -1 if it is none
	began  time.Time
	status storage.Status
	atom   bool   // it has an atom; else the status is the one inside that matters most
	inside int    // atoms inside of it
	strip  Strip  // of its items
	run    string // id of the run that it began, whose steps are shown below it
}

// A levelScan is a pass over the atoms below a place.
type levelScan struct {
	place   *Place
	byPath  map[string]*scanned
	all     []*scanned
	read    int
	partial bool // there are atoms that were not read
}

// scanLevel finds what is directly below a place, in the order of the level: what has a name by its start, and then
// the items by their numbers.
func scanLevel(ctx context.Context, store storage.Reader, place *Place) (*levelScan, error) {
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
		return cmp.Compare(b.began.UnixNano(), a.began.UnixNano()) // what has not begun comes last
	}
	if a.number < 0 && b.number < 0 {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.name, b.name))
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
}

// pass reads the atoms whose paths begin with the prefix.
func (l *levelScan) pass(ctx context.Context, store storage.Reader, prefix string) error {
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

// take adds an atom. If enough is known of the child that it is inside of, it returns a path behind the child.
func (l *levelScan) take(a *storage.Atom) (behind string) {
	if a.Path == flow.GrowingPath {
		return ""
	}
	var name string
	path, depth := a.Path, 0
	for ; ; depth++ {
		var above string
		above, name = CutPath(path)
		if above == l.place.Path {
			break
		}
		if len(above) <= len(l.place.Path) {
			return "" // a name that begins as the place does
		}
		path = above
	}
	c := l.byPath[path]
	if c == nil {
		c = &scanned{path: path, name: name, number: -1}
		if n, numbered := numberOf(name); numbered {
			c.number = n
		}
		l.byPath[path] = c
		l.all = append(l.all, c)
	}
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
