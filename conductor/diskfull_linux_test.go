package conductor_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of administrators

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// smallDisk returns the DSN of a database on a disk of a cluster that has space for little more than its tables, and a
// file that fills the disk when it is written.
func smallDisk(t *testing.T, cluster *postgrestest.Cluster) (dsn, ballast string) {
	t.Helper()
	owner, err := user.Lookup("postgres")
	if err != nil || os.Getuid() != 0 {
		t.Skipf("needs namespaces: no right to mount a small disk for a user postgres: %v", err)
	}
	dir, err := os.MkdirTemp("", "ebbdisk") //nolint:usetesting // the server may enter it
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	options := fmt.Sprintf("size=32m,mode=0755,uid=%d,gid=%d", uid, gid)
	if err := errors.Join(os.Chmod(dir, 0o755), syscall.Mount("tmpfs", dir, "tmpfs", 0, options)); err != nil {
		t.Skipf("needs namespaces: no right to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		cluster.Stop()
		if err := errors.Join(syscall.Unmount(dir, syscall.MNT_DETACH), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	})
	tables := filepath.Join(dir, "tables")
	if err := errors.Join(os.Mkdir(tables, 0o700), os.Chown(tables, uid, gid)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", cluster.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		"CREATE TABLESPACE small LOCATION '" + tables + "'", "CREATE DATABASE small TABLESPACE small",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Replace(cluster.DSN(), "/postgres?", "/small?", 1), filepath.Join(dir, "ballast")
}

// fill writes a file until its disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// TestPostgresDiskFull fills the disk of a PostgreSQL server under a conductor. Small writes still find space in pages
// that the tables have. Yet the conductor is not ready, a trial write fails, and the log has one line. When there is
// space again, all work ends.
//
// Guarantee (G10): While its database cannot be reached or has no space, a conductor is not ready, its log has one line
// for that, and nothing is undone.
// Also: `TestPostgresRestarted`.
func TestPostgresDiskFull(t *testing.T) {
	t.Parallel()
	dsn, ballast := smallDisk(t, postgrestest.NewCluster(t))
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	var lines told
	log := hclog.New(&hclog.LoggerOptions{Output: &lines, Level: hclog.Info})
	store, err := sqlstore.Open(t.Context(), dsn, sqlstore.Log(log))
	if err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	large := atom.Func("large", func(ctx context.Context, in order) (string, error) {
		select {
		case <-gate:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		text := strings.Builder{}
		for i := range 1 << 14 { // a text that does not compress well
			fmt.Fprintf(&text, "%x", (i*7919+in.N)*104729)
		}
		return text.String(), nil
	}, atom.NoEffect())
	c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, flow.Linear("grow", large)),
		engine.WithSlots(4), engine.WithEngine(engine.WithLogger(log)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	defer serving.Wait()
	defer stop()
	serving.Go(func() {
		if err := errors.Join(c.Run(ctx), store.Close()); err != nil {
			t.Error(err)
		}
	})
	const posted = 8
	for i := range posted {
		post(t, store, jobs.Job{ID: fmt.Sprint(i), Flow: "grow", Input: order{N: i}})
	}
	fill(t, ballast)
	close(gate)
	eventually(t, "the store knows", func() bool { return store.Health().Fault == "disk_full" })
	if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk of the server is full") {
		t.Errorf("it is ready: %v", err)
	}
	if err := sqlstore.TryWrite(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), "disk of the server is full") {
		t.Errorf("a trial write: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all jobs end", func() bool {
		left, err := store.JobList(t.Context(), storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed}})
		return err == nil && len(left) == 0
	})
	eventually(t, "the fault is over", func() bool { return c.Ready(t.Context()) == nil })
	if loud := append(lines.with("[ERROR]"), lines.with("[WARN]")...); len(loud) != 1 || len(lines.with("store.available")) != 1 {
		t.Errorf("the log has %q", loud)
	}
}
