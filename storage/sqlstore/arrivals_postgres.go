package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// An arrivalTracker remembers which messages a caller of RunsWithMessages could see. On a server, the number of a
// message does not tell which message came later: of two transactions, the one that began first may commit last.
// New messages are the messages that the caller could not see last time. Therefore, the tracker stores the snapshot
// of each call under the number that the call returned.
type arrivalTracker struct {
	mu    sync.Mutex
	given int64
	seen  map[int64]string // snapshots of PostgreSQL, by the number that RunsWithMessages returned
}

const (
	// maxSeen bounds the number of stored snapshots. A caller that passes a number whose snapshot was dropped
	// receives all messages.
	maxSeen = 1000
	// sawNothing is a snapshot from before the first transaction.
	sawNothing = "3:3:"

	selectSnapshot = `SELECT CAST(pg_current_snapshot() AS TEXT)`
	// serverChanged looks up the run of each message, because PostgreSQL might start a join with all runs.
	serverChanged = `SELECT (SELECT o.id FROM origins o WHERE o.n = l.run) AS run, l.n AS wakeups FROM messages l
WHERE l.arrival >= $1 AND NOT pg_visible_in_snapshot(CAST(CAST(l.arrival AS TEXT) AS xid8),
CAST(CAST($2 AS TEXT) AS pg_snapshot))
  AND (SELECT r.owner FROM runs r WHERE r.n = l.run) = $3
ORDER BY l.arrival, l.n`
)

// since implements RunsWithMessages.
func (r *arrivalTracker) since(ctx context.Context, s *store,
	since int64,
) (changed []backend.Arrival, now int64, err error) {
	saw := r.saw(since)
	oldest, _, _ := strings.Cut(saw, ":") // the oldest transaction that was under way
	from, err := strconv.ParseInt(oldest, 10, 64)
	if err != nil {
		return nil, since, fmt.Errorf("sqlstore: %s: cannot read the snapshot %q: %w", s.place, saw, err)
	}
	var sees string
	var messages []backend.Arrival
	err = s.view(ctx, func(r *session) error {
		if err := r.Get(ctx, &sees, selectSnapshot); err != nil {
			return err
		}
		messages, err = readable(ctx, r, (*arrivalRow).arrival, serverChanged, from, saw, s.owner.ID)
		return err
	})
	if err != nil {
		return nil, since, err
	}
	return rules.LastArrivals(messages), r.give(since, sees), nil
}

// saw returns the snapshot that is stored under a number.
func (r *arrivalTracker) saw(number int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if saw, known := r.seen[number]; known {
		return saw
	}
	return sawNothing
}

// give stores a snapshot and returns its number.
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
