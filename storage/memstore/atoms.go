package memstore

import (
	"maps"
	"slices"
)

// atomRecords holds the records of a run's atoms, encoded, by path. A record that
// is written again, as nearly all are, reuses the space of the one before it.
type atomRecords struct {
	places map[string]int32 // in rows
	rows   [][]byte
	free   []int32  // places of records that were forgotten
	sorted []string // paths, once they were listed and until one is added or forgotten
	slab   []byte   // what is left of the memory that records are cut from
	cut    int      // the size of the last slab
}

const (
	minRow  = 48 // bytes for a plain record from its first state to its last
	minSlab = 512
	maxSlab = 32 << 10
)

// put writes a record, which is copied.
func (m *atomRecords) put(path string, record []byte) {
	at, there := m.places[path]
	if !there {
		at = m.add(path)
	}
	if cap(m.rows[at]) < len(record) {
		m.rows[at] = m.alloc(len(record))
	}
	m.rows[at] = append(m.rows[at][:0], record...)
}

// firstPlaces is how many records there is a place for at first.
const firstPlaces = 8

// add makes a place for a record.
func (m *atomRecords) add(path string) (at int32) {
	if m.places == nil {
		m.places, m.rows = map[string]int32{}, make([][]byte, 0, firstPlaces)
	}
	if last := len(m.free) - 1; last >= 0 {
		at, m.free = m.free[last], m.free[:last]
	} else {
		at = int32(len(m.rows))
		m.rows = append(m.rows, nil)
	}
	m.places[path] = at
	m.sorted = nil
	return at
}

// alloc returns space for a record of that size, and for what its next states may
// add. Space that a record outgrows stays allocated. Large records would waste
// much of it, so they are not cut from a slab.
func (m *atomRecords) alloc(size int) []byte {
	size = max(size, minRow)
	if size > minSlab/4 {
		return make([]byte, 0, size)
	}
	if len(m.slab) < size {
		m.cut = min(max(2*m.cut, minSlab), maxSlab)
		m.slab = make([]byte, m.cut)
	}
	row := m.slab[:0:size]
	m.slab = m.slab[size:]
	return row
}

// find returns the record of an atom, and whether there is one.
func (m *atomRecords) find(path string) ([]byte, bool) {
	at, there := m.places[path]
	if !there {
		return nil, false
	}
	return m.rows[at], true
}

func (m *atomRecords) forget(path string) {
	if at, there := m.places[path]; there {
		delete(m.places, path)
		m.sorted = nil
		m.rows[at] = nil
		m.free = append(m.free, at)
	}
}

// paths returns the paths in their order.
func (m *atomRecords) paths() []string {
	if m.sorted == nil {
		m.sorted = slices.Sorted(maps.Keys(m.places))
	}
	return m.sorted
}
