package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// Health is the state of a database as this process finds it.
type Health struct {
	// Fault is what is wrong: unreachable, disk_full, read_only, exhausted (no connection or memory left), locked
	// (another program keeps it locked), or failing (its disk does); "" if nothing is.
	Fault string
	Since time.Time        // when the fault was met first; zero if there is none
	Err   error            // the latest error of the fault; nil if there is none
	Met   map[string]int64 // how often each fault was met since the store was opened
}

// Health returns the state of the database. It asks nothing of the database: it is what the latest reads and writes of
// this process met. A fault is over when one of them succeeds and none has failed for ten seconds: on a full disk, some
// writes still find space.
func (s *Store) Health() Health { return s.own.health.state() }

const (
	// calm is how long no call may fail before a fault is over.
	//
	//limit:storage time without a failed call until a fault of the database is over | {} | the fault goes on
	calm = 10 * time.Second
	// doubt is how long a database may be unreachable before that is a fault: a lost connection is soon replaced.
	//
	//limit:storage time for which a database may be unreachable | {} | the log and the metrics say that it is unavailable
	doubt = time.Second
)

// A health notes which faults of the database the calls of a store meet. It logs the start and the end of each fault
// once, however many calls meet it.
type health struct {
	log   hclog.Logger
	place string

	ill atomic.Bool // a fault was met and is not over

	mu      sync.Mutex
	fault   string
	told    bool // the log has its start
	first   time.Time
	last    time.Time
	err     error
	met     map[string]int64
	stopped bool
}

// note takes in the result of a call, and returns its error. An error that shows a fault then wraps
// [storage.ErrUnavailable]. wrote means that a success shows that the database takes writes.
func (h *health) note(ctx context.Context, err error, wrote bool) error {
	if err == nil {
		if h.ill.Load() {
			h.succeeded(wrote)
		}
		return nil
	}
	fault := dberr.Fault(err)
	if fault == "" || ctx.Err() != nil { // the caller gave up
		return err
	}
	h.failed(fault, err)
	return &unavailable{err}
}

// unavailable is an error that shows a fault of the database.
type unavailable struct{ error }

// Unwrap returns the error, and [storage.ErrUnavailable].
func (u *unavailable) Unwrap() []error { return []error{storage.ErrUnavailable, u.error} }

func (h *health) failed(fault string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return
	}
	now := time.Now()
	if h.met == nil {
		h.met = map[string]int64{}
	}
	h.met[fault]++
	if h.fault == "" {
		h.first = now
	}
	h.fault, h.err, h.last = fault, err, now
	h.ill.Store(true)
	if h.log == nil { // not a store that serves
		return
	}
	if !h.told && (fault != dberr.Unreachable || now.Sub(h.first) >= doubt) {
		h.told = true
		h.log.Error(logevent.StoreUnavailable, "database", h.place, "fault", fault, "error", err)
	}
}

func (h *health) succeeded(wrote bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fault == "" || !wrote && h.fault != dberr.Unreachable && h.fault != dberr.Exhausted {
		return
	}
	if h.told && time.Since(h.last) < calm {
		return
	}
	if h.told {
		h.log.Info(logevent.StoreAvailable, "database", h.place, "fault", h.fault,
			"duration", logevent.Duration(time.Since(h.first)))
	}
	h.fault, h.told, h.err = "", false, nil
	h.ill.Store(false)
}

// stop makes the errors of calls that are cut off by Close count no longer.
func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

func (h *health) state() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	met := make(map[string]int64, len(dberr.Faults))
	for _, fault := range dberr.Faults {
		met[fault] = h.met[fault]
	}
	if !h.told {
		return Health{Met: met}
	}
	return Health{Fault: h.fault, Since: h.first, Err: h.err, Met: met}
}

// check returns an error while there is a fault.
func (h *health) check() error {
	s := h.state()
	if s.Fault == "" {
		return nil
	}
	return fmt.Errorf("%s since %s: %w", s.Fault, s.Since.UTC().Format(time.RFC3339), s.Err)
}
