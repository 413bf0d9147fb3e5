package engine

import (
	"unsafe"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// payloads remembers which large values the run's payloads hold already, by
// where they are in memory: values are immutable, so one place is one value.
type payloads struct {
	refs  map[*byte]int64
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
	ref, ok := p.refs[unsafe.SliceData(v)]
	return ref, ok
}

func (p *payloads) remember(v atom.Value, ref int64) {
	if p.refs == nil || len(p.refs) >= maxRemembered || p.bytes+len(v) > maxRememberedBytes {
		*p = payloads{refs: map[*byte]int64{}}
	}
	p.bytes += len(v)
	p.refs[unsafe.SliceData(v)] = ref
	p.kept = append(p.kept, v)
}

// hold returns how a record is to hold the value: small ones are copied, large
// ones become a payload of the run, once.
func (d *driver) hold(v atom.Value) storage.Held {
	if len(v) <= storage.InlineLimit {
		return storage.Held{Data: v}
	}
	ref, ok := d.payloads.find(v)
	if !ok {
		d.head.Refs++
		ref = d.head.Refs
		d.cp.Payloads = append(d.cp.Payloads, storage.Payload{Ref: ref, Data: v})
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

// held takes a value out of a record that was loaded.
func (d *driver) held(h storage.Held) atom.Value {
	if h.Ref > 0 {
		d.payloads.remember(h.Data, h.Ref)
	}
	return h.Data
}
