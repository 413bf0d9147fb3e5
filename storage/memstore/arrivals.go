package memstore

import (
	"context"
	"slices"
	"sort"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// arrivalLog lists the messages of all runs, in the order in which they arrived.
type arrivalLog struct {
	last    int64 // number of the last message
	log     []loggedArrival
	compact int // length at which the store drops entries whose message was processed
}

// A loggedArrival is a message that arrived.
type loggedArrival struct {
	at      int64
	run     *runRecord
	message int64
}

const firstCompact = 1024

// logArrival records that a message arrived.
func (m *memory) logArrival(r *runRecord, message int64) {
	all := &m.arrivals
	all.last++
	all.log = append(all.log, loggedArrival{at: all.last, run: r, message: message})
	if len(all.log) > max(all.compact, firstCompact) {
		all.log = slices.DeleteFunc(all.log, func(one loggedArrival) bool {
			return m.runs[one.run.head.ID] != one.run ||
				!one.run.has(one.message)
		})
		all.compact = 2 * len(all.log)
	}
}

// has reports whether a message is still in the inbox.
func (r *runRecord) has(message int64) bool {
	i := sort.Search(len(r.messages), func(i int) bool { return r.messages[i].N >= message })
	return i < len(r.messages) && r.messages[i].N == message
}

// RunsWithMessages implements [backend.Inbox.RunsWithMessages].
func (m *store) RunsWithMessages(ctx context.Context, since int64) ([]backend.Arrival, int64, error) {
	if err := m.enter(ctx); err != nil {
		return nil, 0, err
	}
	defer m.mu.Unlock()
	log := m.arrivals.log
	log = log[sort.Search(len(log), func(i int) bool { return log[i].at > since }):]
	var messages []backend.Arrival
	for _, one := range log {
		if one.run.head.Owner == m.owner.ID && one.run.has(one.message) {
			messages = append(messages, backend.Arrival{Run: one.run.head.ID, Wakeups: one.message})
		}
	}
	return rules.LastArrivals(messages), m.arrivals.last, nil
}
