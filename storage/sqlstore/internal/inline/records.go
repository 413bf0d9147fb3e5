// Package inline keeps the newest records of a run in the run's own row. A checkpoint that ends one atom and starts
// the next then writes one row. If the records no longer fit, the records that will not change soon move to the
// tables. A record in the row is newer than one in the tables, and the history in the row follows the history in
// the table.
package inline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// maxSize is the maximum number of bytes of records in a row. Two rows of this size, with their other columns,
// share a page.
const maxSize = 1700

// Records are the newest records of a run in their stored form. First comes the number of history lines, their
// length, and the lines. Then each atom follows as flags, the length of its path, the path, the length of its
// record, and the record. Empty Records are nil.
type Records []byte

// The flags of an atom.
const (
	live   byte = 1 << iota
	moving      // the atom will change again soon
)

// An Atom is the record of an atom in a row.
type Atom struct {
	whole  []byte // record with its flags and path
	flags  byte
	Path   []byte
	Record []byte
}

// errCutOff is the error for records in a run's row that cannot be decoded.
var errCutOff = fmt.Errorf("%w: the newest records in the run's row are cut off", storage.ErrCorrupt)

// History returns the number of history lines, the lines, and the rest, which are the atoms.
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

// nextAtom decodes the first atom and returns the rest.
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

// A Flush is the effect of a checkpoint on a run's newest records: the new row, and the records that move to the
// tables.
type Flush struct {
	Row     Records // the new content of the row
	First   int64   // number of the first history line that moves
	History []byte  // the history lines that move
	Atoms   []Atom
}

// Scratch holds the buffers for one Flush at a time.
type Scratch struct{ lines, atoms, record []byte }

// Turn encodes the atoms and history of a checkpoint and adds them to the records in the row. If the row would
// become too large, most of it moves to the tables.
func (r Records) Turn(s *Scratch, cp *backend.Checkpoint) (t Flush, err error) {
	count, before, old, err := r.History()
	if err != nil {
		return t, err
	}
	count += int64(len(cp.History))
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
		a := &cp.Atoms[i]
		if len(cp.Forget) > 0 && slices.Contains(cp.Forget, a.Path) {
			continue
		}
		s.record = codec.AppendAtom(s.record[:0], a)
		s.atoms = binary.AppendUvarint(append(s.atoms, flagsOf(a)), uint64(len(a.Path)))
		s.atoms = binary.AppendUvarint(append(s.atoms, a.Path...), uint64(len(s.record)))
		s.atoms = append(s.atoms, s.record...)
	}
	lines, atoms := s.lines, s.atoms
	if len(lines)+len(atoms) > maxSize {
		t.First, t.History = cp.Head.Entries-count+1, slices.Clone(lines)
		count, lines = 0, nil
		if t.Atoms, atoms, err = split(slices.Clone(atoms)); err != nil {
			return t, err
		}
	}
	if len(lines)+len(atoms) > 0 {
		t.Row = make(Records, 0, 2*binary.MaxVarintLen16+len(lines)+len(atoms))
		t.Row = binary.AppendUvarint(t.Row, uint64(count))
		t.Row = binary.AppendUvarint(t.Row, uint64(len(lines)))
		t.Row = append(append(t.Row, lines...), atoms...)
	}
	return t, nil
}

// changes reports whether the checkpoint replaces or deletes the atom.
func changes(cp *backend.Checkpoint, path []byte) bool {
	for i := range cp.Atoms {
		if cp.Atoms[i].Path == string(path) {
			return true
		}
	}
	return len(cp.Forget) > 0 && slices.Contains(cp.Forget, string(path))
}

// flagsOf returns the flags of an atom.
func flagsOf(a *storage.Atom) (flags byte) {
	if a.Live {
		flags |= live
	}
	switch a.State {
	case states.TaskRunning, states.TaskReverting, states.TaskRetrying:
		flags |= moving
	default:
	}
	return flags
}

// split returns the atoms that move out of a row that has become too large, and the atoms that stay. The atoms that
// will change soon stay, unless they alone would fill much of the row.
func split(atoms []byte) (leave []Atom, stay []byte, err error) {
	for len(atoms) > 0 {
		a, rest, err := nextAtom(atoms)
		if err != nil {
			return nil, nil, err
		}
		atoms = rest
		if a.flags&moving != 0 && len(stay)+len(a.whole) <= maxSize/2 && !holds(rest, a.Path) {
			stay = append(stay, a.whole...)
		} else {
			leave = append(leave, a)
		}
	}
	return leave, stay, nil
}

// holds reports whether the atom is one of atoms.
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

// Over merges the records of a run's atoms, ordered by path. It returns the records in the run's row that want
// selects, and the rows of the tables whose paths are not in the run's row.
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

// IsLive reports whether the run needs the atom to continue.
func (a *Atom) IsLive() bool { return a.flags&live != 0 }

// A Row is an atom in a table.
type Row struct {
	Path   string
	Record []byte
}
