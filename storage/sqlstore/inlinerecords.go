package sqlstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// The newest records of a run lie in its own row, so that a checkpoint which
// ends one atom and begins the next writes one row. When they are more than fit,
// those that will not change soon leave for the tables. An atom's record in the
// row goes before one in the tables, which is older; the history in the row comes
// after that in the table.

// recentSize is how many bytes of records a row holds: so many that two such
// rows, with all that is in them, share a page.
const recentSize = 1700

// inlineRecords are the newest records of a run as they are stored: the number of lines
// of history, the length of the lines and the lines; then each atom as flags, the
// length of its path and the path, the length of its record and the record. What
// is empty is nil.
type inlineRecords []byte

// The flags of an atom.
const (
	recentLive   byte = 1 << iota
	recentMoving      // it is about to change again
)

// recentAtom is an atom in a row.
type recentAtom struct {
	whole  []byte // with what goes before it
	flags  byte
	path   []byte
	record []byte
}

// errRecent says that what is in a run's row cannot be read.
var errRecent = fmt.Errorf("%w: the newest records in the run's row are cut off", storage.ErrCorrupt)

// history returns how many lines of history there are, the lines, and the rest,
// which are the atoms.
func (r inlineRecords) history() (count int64, lines, atoms []byte, err error) {
	if len(r) == 0 {
		return 0, nil, nil, nil
	}
	n, rest, ok := number(r)
	if !ok || n > uint64(len(r)) {
		return 0, nil, nil, errRecent
	}
	if lines, atoms, ok = prefixed(rest); !ok {
		return 0, nil, nil, errRecent
	}
	return int64(n), lines, atoms, nil
}

// nextAtom takes the first of the atoms.
func nextAtom(atoms []byte) (a recentAtom, rest []byte, err error) {
	if len(atoms) == 0 {
		return a, nil, errRecent
	}
	var ok bool
	a.flags = atoms[0]
	if a.path, rest, ok = prefixed(atoms[1:]); !ok {
		return a, nil, errRecent
	}
	if a.record, rest, ok = prefixed(rest); !ok {
		return a, nil, errRecent
	}
	a.whole = atoms[:len(atoms)-len(rest)]
	return a, rest, nil
}

func number(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}

func prefixed(b []byte) (text, rest []byte, ok bool) {
	size, rest, ok := number(b)
	if !ok || size > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:size:size], rest[size:], true
}

// A flush is what a checkpoint makes of a run's newest records.
type flush struct {
	row     inlineRecords // what stays in the row
	first   int64         // number of the first line of history that leaves
	history []byte        // the lines that leave
	atoms   []recentAtom
}

// scratch holds the buffers for one flush at a time.
type scratch struct{ lines, atoms, record []byte }

// turn adds what a checkpoint has of atoms and history.
func (r inlineRecords) turn(s *scratch, cp *storage.Checkpoint) (t flush, err error) {
	count, before, old, err := r.history()
	if err != nil {
		return t, err
	}
	s.lines = codec.AppendHistory(append(s.lines[:0], before...), cp.History)
	s.atoms = s.atoms[:0]
	for len(old) > 0 {
		var a recentAtom
		if a, old, err = nextAtom(old); err != nil {
			return t, err
		}
		if !changes(cp, a.path) {
			s.atoms = append(s.atoms, a.whole...)
		}
	}
	for i := range cp.Atoms {
		if a := &cp.Atoms[i]; len(cp.Forget) == 0 || !slices.Contains(cp.Forget, a.Path) {
			s.add(a)
		}
	}
	count += int64(len(cp.History))
	if len(s.lines)+len(s.atoms) <= recentSize {
		t.row = pack(count, s.lines, s.atoms)
		return t, nil
	}
	return t, s.leave(&t, cp.Head.Entries-count+1)
}

// changes reports whether the checkpoint replaces or forgets the atom.
func changes(cp *storage.Checkpoint, path []byte) bool {
	for i := range cp.Atoms {
		if cp.Atoms[i].Path == string(path) {
			return true
		}
	}
	return len(cp.Forget) > 0 && slices.Contains(cp.Forget, string(path))
}

func (s *scratch) add(a *storage.Atom) {
	var flags byte
	if a.Live {
		flags |= recentLive
	}
	switch a.State {
	case states.TaskRunning, states.TaskReverting, states.TaskRetrying:
		flags |= recentMoving
	default:
	}
	s.record = codec.AppendAtom(s.record[:0], a)
	s.atoms = binary.AppendUvarint(append(s.atoms, flags), uint64(len(a.Path)))
	s.atoms = binary.AppendUvarint(append(s.atoms, a.Path...), uint64(len(s.record)))
	s.atoms = append(s.atoms, s.record...)
}

// leave empties the row, but for the atoms that will change soon, unless those
// alone would fill much of it.
func (s *scratch) leave(t *flush, first int64) error {
	t.first, t.history = first, slices.Clone(s.lines)
	atoms := slices.Clone(s.atoms)
	var stay []byte
	for rest := atoms; len(rest) > 0; {
		a, next, err := nextAtom(rest)
		if err != nil {
			return err
		}
		rest = next
		if a.flags&recentMoving != 0 && len(stay)+len(a.whole) <= recentSize/2 && !holds(rest, a.path) {
			stay = append(stay, a.whole...)
		} else {
			t.atoms = append(t.atoms, a)
		}
	}
	t.row = pack(0, nil, stay)
	return nil
}

// holds reports whether the atom is among those.
func holds(atoms, path []byte) bool {
	for len(atoms) > 0 {
		a, rest, err := nextAtom(atoms)
		if err != nil {
			return false
		}
		if bytes.Equal(a.path, path) {
			return true
		}
		atoms = rest
	}
	return false
}

func pack(count int64, lines, atoms []byte) inlineRecords {
	if len(lines)+len(atoms) == 0 {
		return nil
	}
	r := make(inlineRecords, 0, 2*binary.MaxVarintLen16+len(lines)+len(atoms))
	r = binary.AppendUvarint(r, uint64(count))
	r = binary.AppendUvarint(r, uint64(len(lines)))
	return append(append(r, lines...), atoms...)
}

// write writes what leaves the row, and reports in which tables there may be
// atoms now.
func (t *flush) write(ctx context.Context, w *session, n int64, has parts) (parts, error) {
	if len(t.history) > 0 {
		if err := w.post(ctx, nil, insertHistory, n, t.first, t.history); err != nil {
			return has, err
		}
	}
	return writeAtoms(ctx, w, n, t.atoms, has)
}

// over returns the records of the run's atoms: those in its row, and of those in
// the tables the ones that are not in it; ordered by path. Of the former, only
// those are returned that want picks.
func over(rows []atomRow, newest map[string]recentAtom, want func(path string, a *recentAtom) bool) []atomRow {
	if len(newest) == 0 {
		return rows
	}
	rows = slices.DeleteFunc(rows, func(row atomRow) bool { _, newer := newest[row.Path]; return newer })
	for path, a := range newest {
		if want(path, &a) {
			rows = append(rows, atomRow{path, a.record})
		}
	}
	slices.SortFunc(rows, func(a, b atomRow) int { return strings.Compare(a.Path, b.Path) })
	return rows
}

// byPath returns the atoms in the row.
func (r inlineRecords) byPath() (map[string]recentAtom, error) {
	_, _, atoms, err := r.history()
	if err != nil || len(atoms) == 0 {
		return nil, err
	}
	newest := map[string]recentAtom{}
	for len(atoms) > 0 {
		var a recentAtom
		if a, atoms, err = nextAtom(atoms); err != nil {
			return nil, err
		}
		newest[string(a.path)] = a
	}
	return newest, nil
}

func (a *recentAtom) isLive() bool { return a.flags&recentLive != 0 }
