package session_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A store commits as its errors say, one after the other.
type store struct {
	backend.Store

	errs    []error
	commits []time.Duration // since the first one
	first   time.Time
	run     storage.Run
	failure error // of Run
	now     time.Time
}

func (s *store) Now() time.Time { return s.now }
func (s *store) Run(context.Context, string) (storage.Run, error) {
	return s.run, s.failure
}

func (s *store) Commit(_ context.Context, _ backend.Claim, cp *backend.Checkpoint) (err error) {
	if !cp.Head.Time.Equal(noon) {
		return storage.ErrInvalid
	}
	if len(s.commits) == 0 {
		s.first = time.Now()
	}
	s.commits = append(s.commits, time.Since(s.first))
	if len(s.errs) > 0 {
		err, s.errs = s.errs[0], s.errs[1:]
	}
	return err
}

func begun(st *store, log *bytes.Buffer) *session.Session {
	st.now = noon
	s := &session.Session{}
	s.Init(st, hclog.New(&hclog.LoggerOptions{Output: log}), backend.Claim{Run: "r", ID: "7", Fence: 3, Begins: 1, Wakeups: 5})
	return s
}

// TestCommit: which errors of the store a session tries to outlast, and how long.
func TestCommit(t *testing.T) {
	t.Parallel()
	weak := errors.New("weak")
	for _, c := range []struct {
		name   string
		errs   []error
		tries  int
		last   time.Duration
		err    error
		unsure bool
	}{
		{"at once", nil, 1, 0, nil, false},
		{"after two failures", []error{weak, weak}, 3, 120 * time.Millisecond, nil, false},
		{"never", []error{weak, weak, weak, weak, nil}, 4, 620 * time.Millisecond, weak, false},
		{"fenced", []error{storage.ErrFenced}, 1, 0, storage.ErrFenced, false},
		{"fenced after a failure", []error{weak, storage.ErrFenced}, 2, 20 * time.Millisecond, storage.ErrFenced, false},
		{"unsure, then committed", []error{storage.ErrUnsure}, 2, 20 * time.Millisecond, nil, false},
		{"unsure, then refused", []error{storage.ErrUnsure, storage.ErrClosed}, 2, 20 * time.Millisecond, storage.ErrClosed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				st := &store{errs: c.errs}
				s := begun(st, &log)
				err := s.Commit(t.Context(), nil)
				if !errors.Is(err, c.err) || len(st.commits) != c.tries || st.commits[c.tries-1] != c.last ||
					s.Unsure() != c.unsure {
					t.Errorf("got %v after %v, unsure: %v", err, st.commits, s.Unsure())
				}
				if got := strings.Count(log.String(), "checkpoint.retrying"); got != c.tries-1 {
					t.Errorf("%d tries are logged: %s", got, &log)
				}
				broken, is := errors.AsType[*session.StoreError](err)
				if is != (c.err != nil) || is && broken.Run != "r" {
					t.Errorf("got %T", err)
				}
			})
		})
	}
}

// TestCommitStops: when the process stops, a commit is made, but not tried again.
func TestCommitStops(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	close(stop)
	st := &store{errs: []error{errors.New("weak")}}
	s := begun(st, &bytes.Buffer{})
	if err := s.Commit(t.Context(), stop); err == nil || len(st.commits) != 1 {
		t.Errorf("got %v after %d commits", err, len(st.commits))
	}
	if err := s.Commit(t.Context(), stop); err != nil {
		t.Errorf("a stop prevents a commit: %v", err)
	}
}

// TestTick: decisions that share a commit have the same time.
func TestTick(t *testing.T) {
	t.Parallel()
	st := &store{}
	s := begun(st, &bytes.Buffer{})
	tick := func() time.Duration {
		st.now = st.now.Add(time.Second)
		s.Tick()
		return s.Draft.Now.Sub(noon)
	}
	first := tick()
	s.TimePasses()
	second, third := tick(), tick()
	s.Draft.Now = noon
	if err := s.Commit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if fourth := tick(); first != 0 || second != 2*time.Second || third != second || fourth != 4*time.Second {
		t.Errorf("got %v, %v, %v, %v", first, second, third, fourth)
	}
}

// TestChecks: a session notices that another process has changed the run that it has loaded, or taken its own.
func TestChecks(t *testing.T) {
	t.Parallel()
	loaded := storage.Run{Fence: 2, Wakeups: 5}
	owned := storage.Run{ClaimID: "7", Owner: "me", Fence: 9}
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		change func(s *session.Session, st *store)
		want   error
	}{
		{"as loaded", func(*session.Session, *store) {}, nil},
		{"another fence", func(_ *session.Session, st *store) { st.run.Fence++ }, storage.ErrFenced},
		{"another owner", func(_ *session.Session, st *store) { st.run.Owner = "x" }, storage.ErrFenced},
		{"a commit", func(_ *session.Session, st *store) { st.run.Seq++ }, storage.ErrFenced},
		{"a message", func(_ *session.Session, st *store) { st.run.Wakeups++ }, storage.ErrFenced},
		{"a failure", func(_ *session.Session, st *store) { st.failure = broken }, broken},
		{"a new run", func(s *session.Session, st *store) { s.Claim.New, st.failure = &storage.Run{}, broken }, nil},
		{"owned", func(s *session.Session, st *store) { s.Draft.Head.Seq, st.run = 1, owned }, nil},
		{"owned, another claim", func(s *session.Session, st *store) {
			s.Draft.Head.Seq, st.run = 1, owned
			st.run.ClaimID = "8"
		}, storage.ErrFenced},
		{"owned, released", func(s *session.Session, st *store) {
			s.Draft.Head.Seq, st.run = 1, owned
			st.run.Owner = ""
		}, storage.ErrFenced},
		{"owned, a failure", func(s *session.Session, st *store) { s.Draft.Head.Seq, st.failure = 1, broken }, broken},
	} {
		st := &store{run: loaded}
		s := begun(st, &bytes.Buffer{})
		c.change(s, st)
		changed, lost := s.CheckUnchanged(t.Context()), s.CheckOwned(t.Context())
		if strings.HasPrefix(c.name, "owned") != s.Owns() {
			t.Errorf("%s: the session owns the run: %v", c.name, s.Owns())
		}
		if s.Owns() {
			changed, lost = lost, changed
		}
		if !errors.Is(changed, c.want) || lost != nil {
			t.Errorf("%s: got %v, and %v of the other check", c.name, changed, lost)
		}
	}
}

// TestStoreError: what the store knows of a run is not the end of the run.
func TestStoreError(t *testing.T) {
	t.Parallel()
	if session.Wrap("r", nil) != nil {
		t.Error("nothing is an error")
	}
	for cause, want := range map[error]string{
		storage.ErrNotFound: `engine: run "r": not found`, storage.ErrConflict: `engine: run "r": the record has changed`,
		storage.ErrExists: `engine: run "r": already exists; choose another id, or call Run, which continues it`,
		storage.ErrFenced: `engine: run "r" stopped at its last checkpoint: another owner has taken over`,
	} {
		if got := session.Wrap("r", cause); got.Error() != want || !errors.Is(got, cause) {
			t.Errorf("got %v", got)
		}
	}
}
