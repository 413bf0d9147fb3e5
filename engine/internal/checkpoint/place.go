package checkpoint

import (
	"slices"

	"github.com/ebbflow/ebb/storage"
)

// planned returns the place in the checkpoint for the record of an atom of the
// plan. If the checkpoint already holds a record of the atom, planned returns that
// record, cleared.
func (d *Draft) planned(i int32) *storage.Atom {
	at, path := &d.attempts[i], d.plan.Atoms[i].Name()
	if n := int(at.place); n < len(d.Atoms) && d.Atoms[n].Path == path {
		d.Atoms[n] = storage.Atom{Path: path}
		return &d.Atoms[n]
	}
	at.place = int32(len(d.Atoms))
	return d.addAtom(path)
}

func (d *Draft) addAtom(path string) *storage.Atom {
	a := extend(&d.Atoms)
	a.Path = path
	return a
}

// few is up to how many records of a checkpoint are looked through rather than
// looked up.
const few = 16

// unplanned is planned for what has grown, which is known by its path alone.
func (d *Draft) unplanned(path string) *storage.Atom {
	n := d.where(path)
	if n < 0 {
		if d.at != nil {
			d.at[path] = len(d.Atoms)
		}
		return d.addAtom(path)
	}
	d.Atoms[n] = storage.Atom{Path: path}
	return &d.Atoms[n]
}

// where returns the place of an atom's record in the checkpoint, -1 if it has none.
func (d *Draft) where(path string) int {
	atoms := d.Atoms
	if len(atoms) <= few {
		return slices.IndexFunc(atoms, func(a storage.Atom) bool { return a.Path == path })
	}
	if d.at == nil {
		d.at = make(map[string]int, 2*len(atoms))
		for i := range atoms {
			d.at[atoms[i].Path] = i
		}
	}
	if i, ok := d.at[path]; ok {
		return i
	}
	return -1
}

// Gathered returns the record of an atom that the checkpoint holds.
func (d *Draft) Gathered(path string) (storage.Atom, bool) {
	if i := d.where(path); i >= 0 {
		return d.Atoms[i], true
	}
	return storage.Atom{}, false
}
