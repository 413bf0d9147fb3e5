// Package inline holds the newest records of a run in its own row, so that a checkpoint which
// ends one atom and begins the next writes one row. When they are more than fit,
// those that will not change soon leave for the tables. An atom's record in the
// row goes before one in the tables, which is older; the history in the row comes
// after that in the table.
package inline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// maxSize is how many bytes of records a row holds: so many that two such
// rows, with all that is in them, share a page.
const maxSize = 1700

// Records are the newest records of a run as they are stored: the number of lines
// of history, the length of the lines and the lines; then each atom as flags, the
// length of its path and the path, the length of its record and the record. What
// is empty is nil.
type Records []byte

// The flags of an atom.
const (
	live   byte = 1 << iota
	moving      // it is about to change again
)

// An Atom is an atom in a row.
type Atom struct {
	whole  []byte // with what goes before it
	flags  byte
	Path   []byte
	Record []byte
}

// errCutOff says that what is in a run's row cannot be read.
var errCutOff = fmt.Errorf("%w: the newest records in the run's row are cut off", storage.ErrCorrupt)

// History returns how many lines of history there are, the lines, and the rest,
// which are the atoms.
func (r Records) History() (count int64, lines, atoms []byte, err error) {
	if len(r) == 0 {
		return 0, nil, nil, nil
	}
	n, rest, ok := number(r)
	if !ok || n > uint64(len(r)) {
		return 0, nil, nil, errCutOff
	}
	if lines, atoms, ok = prefixed(rest); !ok {
		return 0, nil, nil, errCutOff
	}
	return int64(n), lines, atoms, nil
}

// nextAtom takes the first of the atoms.
func nextAtom(atoms []byte) (a Atom, rest []byte, err error) {
	if len(atoms) == 0 {
		return a, nil, errCutOff
	}
	var ok bool
	a.flags = atoms[0]
	if a.Path, rest, ok = prefixed(atoms[1:]); !ok {
		return a, nil, errCutOff
	}
	if a.Record, rest, ok = prefixed(rest); !ok {
		return a, nil, errCutOff
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

// A Flush is what a checkpoint makes of a run's newest records.
type Flush struct {
	Row     Records // what stays in the row
	First   int64   // number of the first line of history that leaves
	History []byte  // the lines that leave
	Atoms   []Atom
}

// Scratch holds the buffers for one Flush at a time.
type Scratch struct{ lines, atoms, record []byte }

// Turn adds what a checkpoint has of atoms and history.
func (r Records) Turn(s *Scratch, cp *storage.Checkpoint) (t Flush, err error) {
	count, before, old, err := r.History()
	if err != nil {
		return t, err
	}
	s.lines = codec.AppendHistory(append(s.lines[:0], before...), cp.History)
	s.atoms = s.atoms[:0]
	for len(old) > 0 {
		var a Atom
		if a, old, err = nextAtom(old); err != nil {
			return t, err
		}
		if !changes(cp, a.Path) {
			s.atoms = append(s.atoms, a.whole...)
		}
	}
	for i := range cp.Atoms {
		if a := &cp.Atoms[i]; len(cp.Forget) == 0 || !slices.Contains(cp.Forget, a.Path) {
			s.add(a)
		}
	}
	count += int64(len(cp.History))
	if len(s.lines)+len(s.atoms) <= maxSize {
		t.Row = pack(count, s.lines, s.atoms)
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

func (s *Scratch) add(a *storage.Atom) {
	var flags byte
	if a.Live {
		flags |= live
	}
	switch a.State {
	case states.TaskRunning, states.TaskReverting, states.TaskRetrying:
		flags |= moving
	default:
	}
	s.record = codec.AppendAtom(s.record[:0], a)
	s.atoms = binary.AppendUvarint(append(s.atoms, flags), uint64(len(a.Path)))
	s.atoms = binary.AppendUvarint(append(s.atoms, a.Path...), uint64(len(s.record)))
	s.atoms = append(s.atoms, s.record...)
}

// leave empties the row, but for the atoms that will change soon, unless those
// alone would fill much of it.
func (s *Scratch) leave(t *Flush, first int64) error {
	t.First, t.History = first, slices.Clone(s.lines)
	atoms := slices.Clone(s.atoms)
	var stay []byte
	for rest := atoms; len(rest) > 0; {
		a, next, err := nextAtom(rest)
		if err != nil {
			return err
		}
		rest = next
		if a.flags&moving != 0 && len(stay)+len(a.whole) <= maxSize/2 && !holds(rest, a.Path) {
			stay = append(stay, a.whole...)
		} else {
			t.Atoms = append(t.Atoms, a)
		}
	}
	t.Row = pack(0, nil, stay)
	return nil
}

// holds reports whether the atom is among those.
func holds(atoms, path []byte) bool {
	for len(atoms) > 0 {
		a, rest, err := nextAtom(atoms)
		if err != nil {
			return false
		}
		if bytes.Equal(a.Path, path) {
			return true
		}
		atoms = rest
	}
	return false
}

func pack(count int64, lines, atoms []byte) Records {
	if len(lines)+len(atoms) == 0 {
		return nil
	}
	r := make(Records, 0, 2*binary.MaxVarintLen16+len(lines)+len(atoms))
	r = binary.AppendUvarint(r, uint64(count))
	r = binary.AppendUvarint(r, uint64(len(lines)))
	return append(append(r, lines...), atoms...)
}

// Over returns the records of the run's atoms: those in its row, and of those in
// the tables the ones that are not in it; ordered by path. Of the former, only
// those are returned that want picks.
func Over(rows []Row, newest map[string]Atom, want func(path string, a *Atom) bool) []Row {
	if len(newest) == 0 {
		return rows
	}
	rows = slices.DeleteFunc(rows, func(row Row) bool { _, newer := newest[row.Path]; return newer })
	for path, a := range newest {
		if want(path, &a) {
			rows = append(rows, Row{path, a.Record})
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.Path, b.Path) })
	return rows
}

// ByPath returns the atoms in the row.
func (r Records) ByPath() (map[string]Atom, error) {
	_, _, atoms, err := r.History()
	if err != nil || len(atoms) == 0 {
		return nil, err
	}
	newest := map[string]Atom{}
	for len(atoms) > 0 {
		var a Atom
		if a, atoms, err = nextAtom(atoms); err != nil {
			return nil, err
		}
		newest[string(a.Path)] = a
	}
	return newest, nil
}

// IsLive reports whether the atom is needed to go on with the run.
func (a *Atom) IsLive() bool { return a.flags&live != 0 }

// A Row is an atom in a table.
type Row struct {
	Path   string
	Record []byte
}
