package checkpoint

import (
	"bytes"
	"hash/maphash"
	"unsafe"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// payloads remembers which large values the run's payloads contain, by address, because values are immutable, and
// by content: a language may create the same value again, such as an input of each item of a Map.
type payloads struct {
	refs  map[*byte]int64
	same  map[uint64]int // index in kept of a value with that hash
	seed  maphash.Seed
	kept  []atom.Value // referenced, so that no address is reused while it is remembered
	bytes int          // size of the values in kept
}

// The number and size of remembered values are bounded. A forgotten value is stored again, which only costs space.
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

// Hold returns the form of the value in a record: the store copies small values, and stores large values once as a
// payload.
func (d *Draft) Hold(v atom.Value) storage.Held {
	if len(v) <= backend.InlineLimit {
		return storage.Held{Data: v}
	}
	ref, ok := d.payloads.find(v)
	if !ok {
		d.Head.Refs++
		ref = d.Head.Refs
		d.Payloads = append(d.Payloads, backend.Payload{Ref: ref, Data: v})
		d.payloads.remember(v, ref)
		d.wrote(len(v))
	}
	return storage.Held{Ref: ref, Data: v}
}

// A heldValue is a value of an open node, and the payload that contains it. The remembered values are bounded, and
// open nodes may have more: without a heldValue, each record of a node would store its values again.
type heldValue struct {
	value atom.Value
	ref   int64 // 0 if the value is not in a payload
}

// holdOnce is Hold for a value whose form h remembers.
func (d *Draft) holdOnce(h *heldValue, v atom.Value) storage.Held {
	if h.ref == 0 || len(v) != len(h.value) || unsafe.SliceData(v) != unsafe.SliceData(h.value) {
		*h = heldValue{v, d.Hold(v).Ref}
	}
	return storage.Held{Ref: h.ref, Data: v}
}

// inlined returns how many bytes of a value its record contains.
func inlined(h storage.Held) int {
	if h.Ref > 0 {
		return 0
	}
	return len(h.Data)
}

// Held returns the value in a loaded record.
func (d *Draft) Held(h storage.Held) atom.Value {
	if h.Ref > 0 {
		d.payloads.remember(h.Data, h.Ref)
	}
	return h.Data
}
