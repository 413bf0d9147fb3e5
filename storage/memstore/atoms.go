package memstore

import (
	"maps"
	"slices"
)

// atomRecords contains the encoded records of a run's atoms, by path. If a record is written again, as nearly all
// records are, it reuses the space of the previous record.
type atomRecords struct {
	places map[string]int32 // indexes of rows, by path
	rows   [][]byte
	free   []int32  // indexes of rows whose records were deleted
	sorted []string // sorted paths; nil until they are listed, and after a path is added or deleted
	slab   []byte   // unused rest of the memory from which alloc cuts records
	cut    int      // size of the last slab
}

const (
	minRow  = 48 // bytes that a plain record needs from its first state to its last
	minSlab = 512
	maxSlab = 32 << 10
)

// put writes a copy of the record.
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

// firstPlaces is the number of records for which add first allocates space.
const firstPlaces = 8

// add allocates a row for a record.
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

// alloc returns space for a record of the given size, with a reserve for its next states. If a record outgrows its
// space, the space stays allocated. Large records would waste much of it, so alloc does not cut them from a slab.
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

// find returns the record of an atom, and whether the record exists.
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

// paths returns the paths in sorted order.
func (m *atomRecords) paths() []string {
	if m.sorted == nil {
		m.sorted = slices.Sorted(maps.Keys(m.places))
	}
	return m.sorted
}
