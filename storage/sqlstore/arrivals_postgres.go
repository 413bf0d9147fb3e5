package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// An arrivalTracker remembers which messages a caller of RunsWithMessages could see.
// On a server messages have no number that tells which came later: of two
// transactions the one that began first may commit last. The new messages are those
// that the caller could not see last time. So the tracker stores the snapshot of each
// call, under the number that the call returned.
type arrivalTracker struct {
	mu    sync.Mutex
	given int64
	seen  map[int64]string // snapshots of PostgreSQL
}

const (
	// maxSeen is how many looks are remembered. A caller that asks with an older look is told
	// of all messages that are there.
	maxSeen = 1000
	// sawNothing is what could be seen before the first transaction.
	sawNothing = "3:3:"

	// serverChanged looks for the run of each message, as a join may begin with all runs.
	serverChanged = `SELECT (SELECT o.id FROM origins o WHERE o.n = l.run) AS run, l.n AS wakeups FROM messages l
WHERE l.arrival >= ? AND NOT pg_visible_in_snapshot(CAST(CAST(l.arrival AS TEXT) AS xid8), CAST(CAST(? AS TEXT) AS pg_snapshot))
  AND (SELECT r.owner FROM runs r WHERE r.n = l.run) = ?
ORDER BY l.arrival, l.n`
)

// since answers RunsWithMessages.
func (r *arrivalTracker) since(ctx context.Context, s *Store, since int64) (changed []storage.Arrival, now int64, err error) {
	saw := r.saw(since)
	oldest, _, _ := strings.Cut(saw, ":") // transaction that was under way
	from, err := strconv.ParseInt(oldest, 10, 64)
	if err != nil {
		return nil, since, fmt.Errorf("sqlstore: %s: the snapshot %q cannot be read: %w", s.place, saw, err)
	}
	var sees string
	var messages []storage.Arrival
	err = s.view(ctx, func(r *session) error {
		if err := r.get(ctx, &sees, r.dialect.lastVisible); err != nil {
			return err
		}
		return r.all(ctx, &messages, serverChanged, from, saw, s.owner.ID)
	})
	if err != nil {
		return nil, since, err
	}
	return rules.LastArrivals(messages), r.give(since, sees), nil
}

// saw returns what could be seen when a number was given.
func (r *arrivalTracker) saw(number int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if saw, known := r.seen[number]; known {
		return saw
	}
	return sawNothing
}

// give returns the number under which what is seen now is remembered.
func (r *arrivalTracker) give(since int64, sees string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[int64]string{}
	}
	r.given = max(r.given, since) + 1
	r.seen[r.given] = sees
	delete(r.seen, r.given-maxSeen)
	return r.given
}
