package checkpoint

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
)

// An overflow is the tries of a retry that no longer fit its record. They are in payloads, each of which refers to
// the previous one.
type overflow struct {
	ref int64 // number of the newest payload
	// all are the retry's tries from the first on, when its controller was last asked; fewer if the controller did
	// not need all.
	all []atom.Try
}

// Overflow moves tries to a payload. The record of their retry follows.
func (d *Draft) Overflow(cmd *scheduler.Command) {
	s := d.overflows[cmd.Unit.Index]
	if cmd.Tries.Earlier == 0 { // the retry may have started again
		s = overflow{all: cmd.Tries.Tries}
	}
	d.Head.Refs++
	d.Payloads = append(d.Payloads, backend.Payload{Ref: d.Head.Refs, Data: codec.EncodeTries(s.ref, cmd.Tries.Tries)})
	s.ref = d.Head.Refs
	d.keepOverflow(cmd.Unit.Index, s)
}

func (d *Draft) keepOverflow(a int32, s overflow) {
	if d.overflows == nil {
		d.overflows = map[int32]overflow{}
	}
	d.overflows[a] = s
}

// Tries returns the tries for a retry's controller: all, or only the newest if the controller needs no more. It
// calls read for stored tries, and returns its error.
func (d *Draft) Tries(a int32, newest *atom.History,
	read func(path string) (atom.History, error),
) (atom.History, error) {
	h := *newest
	if _, forgets := d.plan.Atoms[a].Controller().(atom.Forgetful); forgets || h.Earlier == 0 {
		return h, nil
	}
	s := d.overflows[a]
	if len(s.all) < h.Earlier { // the run was loaded since
		stored, err := read(d.plan.Atoms[a].Name())
		if err != nil {
			return h, err
		}
		s.all = stored.Tries
	}
	s.all = append(s.all[:h.Earlier], h.Tries...)
	d.keepOverflow(a, s)
	h.Earlier, h.Tries = 0, slices.Clip(s.all)
	return h, nil
}
