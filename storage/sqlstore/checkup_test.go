package sqlstore_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestExamineServer: notifications of a server that is connected to arrive; through
// something in between that keeps them for itself they do not.
func TestExamineServer(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	c, err := sqlstore.Examine(t.Context(), dsn)
	if err != nil || c.Deaf != nil || !c.Server || !strings.HasPrefix(c.Engine, "PostgreSQL ") || len(c.Schema.Pending) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if off := time.Since(c.Time); off.Abs() > time.Hour {
		t.Errorf("its clock is %v behind", off)
	}
	if err := sqlstore.Hear(t.Context(), withoutNotifications(t, dsn), time.Second); !errors.Is(err, sqlstore.ErrDeaf) {
		t.Errorf("what does not arrive is reported as %v", err)
	}
	empty, err := sqlstore.Examine(t.Context(), postgrestest.DSN(t))
	if err != nil || empty.Schema.Version != 0 || len(empty.Schema.Pending) == 0 {
		t.Errorf("%+v, %v", empty, err)
	}
}

// withoutNotifications returns a DSN behind which all of a database is found, but
// for its notifications.
func withoutNotifications(t *testing.T, dsn string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconnAddress(config)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var passing sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		passing.Wait()
	})
	passing.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(context.Background(), network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			shut := sync.OnceFunc(func() { _, _ = client.Close(), server.Close() })
			passing.Go(func() { defer shut(); _, _ = io.Copy(server, client) })
			passing.Go(func() { defer shut(); passAllBut('A', client, server) })
		}
	})
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = listener.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	if config.User != "" {
		u.User = url.UserPassword(config.User, config.Password)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// pgconnAddress returns where a server is.
func pgconnAddress(config *pgx.ConnConfig) (network, address string) {
	port := strconv.Itoa(int(config.Port))
	if strings.HasPrefix(config.Host, "/") {
		return "unix", filepath.Join(config.Host, ".s.PGSQL."+port)
	}
	return "tcp", net.JoinHostPort(config.Host, port)
}

// passAllBut passes on messages of a server, but for those of a kind.
func passAllBut(kind byte, to io.Writer, from io.Reader) {
	for {
		var head [5]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if head[0] == kind {
			continue
		}
		if _, err := to.Write(append(head[:], body...)); err != nil {
			return
		}
	}
}

// TestAfterRestore: who claimed something before the copy was made, or after, can
// write nothing to what was restored from it, and what he had is free.
func TestAfterRestore(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		before := open(t, filepath.Join(dir, "runs.db"))
		defer shut(t, before)
		claims := claimed(t, before)
		copied := filepath.Join(dir, "copy.db")
		if err := sqlstore.Backup(t.Context(), filepath.Join(dir, "runs.db"), copied); err != nil {
			t.Fatal(err)
		}
		restored := open(t, copied)
		defer shut(t, restored)
		afterRestore(t, restored, restored, claims)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := migrated(t)
		before, restored := openServer(t, dsn), openServer(t, dsn)
		defer shut(t, before)
		defer shut(t, restored)
		afterRestore(t, before, restored, claimed(t, before))
	})
}

// claims are of a run and a job.
type claims struct {
	run storage.Claim
	job storage.Job
}

func claimed(t *testing.T, s *sqlstore.Store) claims {
	t.Helper()
	run := owned(t, s, "a")
	if err := s.PostJob(t.Context(), storage.Job{ID: "j", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	list, err := s.ClaimJobs(t.Context(), storage.JobClaim{Lease: time.Hour})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return claims{run, list[0]}
}

func afterRestore(t *testing.T, old, restored *sqlstore.Store, c claims) {
	t.Helper()
	runs, jobs, err := restored.AfterRestore(t.Context())
	if err != nil || runs != 1 || jobs != 1 {
		t.Fatalf("%d runs, %d jobs, %v", runs, jobs, err)
	}
	run, err := restored.Run(t.Context(), "a")
	if err != nil || run.Owner != "" || run.Due.IsZero() {
		t.Errorf("the run is %+v (%v)", run, err)
	}
	if err := old.Commit(t.Context(), c.run, &storage.Checkpoint{Head: storage.Head{Seq: run.Seq, State: run.State}}); !errors.Is(err, storage.ErrFenced) {
		t.Errorf("who had the run writes: %v", err)
	}
	if err := old.RenewJob(t.Context(), "j", c.job.Epoch, c.job.ClaimID, time.Hour); !errors.Is(err, storage.ErrFenced) {
		t.Errorf("who had the job keeps it: %v", err)
	}
	claim, _, err := restored.Begin(t.Context(), "a")
	if err != nil || claim.Fence <= c.run.Fence+1 {
		t.Errorf("taken over with %+v after %+v (%v)", claim, c.run, err)
	}
	list, err := restored.ClaimJobs(t.Context(), storage.JobClaim{Lease: time.Hour})
	if err != nil || len(list) != 1 || list[0].Epoch <= c.job.Epoch+1 {
		t.Errorf("claimed %+v (%v)", list, err)
	}
}
