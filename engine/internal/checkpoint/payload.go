package checkpoint

import (
	"bytes"
	"hash/maphash"
	"unsafe"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// payloads remembers which large values the run's payloads hold already, by where they
// are in memory, as values are immutable, and by what they are: a language may make the
// same value again and again, such as an input of each item of a Map.
type payloads struct {
	refs  map[*byte]int64
	same  map[uint64]int // where in kept is a value with that hash
	seed  maphash.Seed
	kept  []atom.Value // so that no place is used again while it is remembered
	bytes int          // of what is kept
}

// What is remembered is bounded in number and in bytes. A value that was forgotten
// is stored once more, which costs space and harms nothing.
const (
	maxRemembered      = 4096
	maxRememberedBytes = atom.MaxValue
)

func (p *payloads) find(v atom.Value) (int64, bool) {
	if ref, ok := p.refs[unsafe.SliceData(v)]; ok || len(p.kept) == 0 {
		return ref, ok
	}
	if i, ok := p.same[maphash.Bytes(p.seed, v)]; ok && bytes.Equal(p.kept[i], v) {
		return p.refs[unsafe.SliceData(p.kept[i])], true
	}
	return 0, false
}

func (p *payloads) remember(v atom.Value, ref int64) {
	if p.refs == nil || len(p.refs) >= maxRemembered || p.bytes+len(v) > maxRememberedBytes {
		*p = payloads{refs: map[*byte]int64{}, same: map[uint64]int{}, seed: maphash.MakeSeed()}
	}
	p.same[maphash.Bytes(p.seed, v)] = len(p.kept)
	p.bytes += len(v)
	p.refs[unsafe.SliceData(v)] = ref
	p.kept = append(p.kept, v)
}

// Hold returns how a record is to hold the value: small ones are copied, large
// ones become a payload of the run, once.
func (d *Draft) Hold(v atom.Value) storage.Held {
	if len(v) <= storage.InlineLimit {
		return storage.Held{Data: v}
	}
	ref, ok := d.payloads.find(v)
	if !ok {
		d.Head.Refs++
		ref = d.Head.Refs
		d.Payloads = append(d.Payloads, storage.Payload{Ref: ref, Data: v})
		d.payloads.remember(v, ref)
		d.wrote(len(v))
	}
	return storage.Held{Ref: ref, Data: v}
}

// inlined returns how many bytes of a value a record holds itself.
func inlined(h storage.Held) int {
	if h.Ref > 0 {
		return 0
	}
	return len(h.Data)
}

// Held takes a value out of a record that was loaded.
func (d *Draft) Held(h storage.Held) atom.Value {
	if h.Ref > 0 {
		d.payloads.remember(h.Data, h.Ref)
	}
	return h.Data
}
