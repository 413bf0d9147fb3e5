package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ebbflow/ebb/storage"
)

// TestHealth: a fault has one line for its start and one for its end, however many calls meet it. A lost connection that
// is replaced within a second is none.
func TestHealth(t *testing.T) {
	t.Parallel()
	full, cut := &pgconn.PgError{Code: "53100"}, io.ErrUnexpectedEOF
	type step struct {
		after time.Duration
		err   error // of a call; nil if it succeeds
		reads bool  // the call only reads
		want  string
	}
	for name, steps := range map[string][]step{
		"full": {
			{err: full, want: "disk_full"},
			{after: time.Second, want: "disk_full"}, // a small write found space
			{after: time.Second, err: full, want: "disk_full"},
			{after: time.Minute, reads: true, want: "disk_full"},
			{after: 0, want: ""},
		},
		"unreachable": {
			{err: cut, want: ""},
			{after: 2 * time.Second, err: cut, want: "unreachable"},
			{after: time.Hour, err: cut, want: "unreachable"},
			{after: time.Minute, reads: true, want: ""},
		},
		"a connection is replaced": {{err: cut, want: ""}, {after: time.Hour, reads: true}, {err: cut, want: ""}},
		"another error":            {{err: storage.ErrFenced, want: ""}, {err: errors.New("syntax"), want: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				h := health{log: hclog.New(&hclog.LoggerOptions{Output: &log}), place: "db"}
				gone, cancel := context.WithCancel(t.Context())
				cancel()
				outages := 0
				for i, s := range steps {
					time.Sleep(s.after)
					err := h.note(t.Context(), s.err, !s.reads)
					if !errors.Is(err, s.err) || h.state().Fault != s.want || (h.check() != nil) != (s.want != "") {
						t.Errorf("step %d: %v, then %+v", i, err, h.state())
					}
					if err := h.note(gone, cut, true); errors.Is(err, storage.ErrUnavailable) || h.state().Fault != s.want {
						t.Error("a caller that gave up is a fault")
					}
					outages = max(outages, len(s.want))
				}
				outages = min(outages, 1)
				if strings.Count(log.String(), "store.unavailable") != outages || strings.Count(log.String(), "store.available") != outages {
					t.Errorf("the log of %d outages:\n%s", outages, &log)
				}
			})
		})
	}
}
