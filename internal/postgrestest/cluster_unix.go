//go:build unix

package postgrestest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Cluster is a PostgreSQL server for one test, which the test can stop. It listens on a socket in a folder of its
// own, so it needs no port.
type Cluster struct {
	tb   testing.TB
	bin  string // folder of the server's programs
	dir  string
	data string
	who  *syscall.Credential // the user of the server; nil for the user of the test
	proc *exec.Cmd           // nil if it is stopped
}

// NewCluster starts a server. When the test ends, the server is stopped and deleted. If PostgreSQL's programs are
// missing, the test is skipped. NewCluster looks for them in EBB_TEST_INITDB, the folder of initdb, then in the usual
// folders.
func NewCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb, bin: programs()}
	if c.bin == "" {
		tb.Skip("needs initdb: install a PostgreSQL server, or set EBB_TEST_INITDB to the folder of its programs")
	}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if c.who = postgres(); c.who == nil {
			tb.Skip("needs a user postgres, as PostgreSQL does not run as root")
		}
	}
	var err error
	if c.dir, err = os.MkdirTemp("", "ebbpg"); err != nil { //nolint:usetesting // a socket's name must be short
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		c.Stop()
		if err := os.RemoveAll(c.dir); err != nil {
			tb.Error(err)
		}
	})
	c.data = filepath.Join(c.dir, "data")
	if c.who != nil {
		if err := os.Chown(c.dir, int(c.who.Uid), int(c.who.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	if out, err := c.command("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8",
		"--locale=C", c.data).CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, out)
	}
	c.Start()
	return c
}

// DSN returns the database of the cluster. The caller may append parameters with &.
func (c *Cluster) DSN() string {
	q := url.Values{"host": {c.dir}}
	return "postgres://postgres@/postgres?" + q.Encode()
}

// Start starts the server. It returns when the server accepts connections.
func (c *Cluster) Start() {
	c.tb.Helper()
	var log bytes.Buffer
	c.proc = c.command("postgres", "-D", c.data, "-k", c.dir, "-c", "listen_addresses=")
	c.proc.Stderr = &log
	c.proc.WaitDelay = time.Minute // for its own processes, which outlive it
	if err := c.proc.Start(); err != nil {
		c.tb.Fatal(err)
	}
	const patience = 3 * time.Minute
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := c.ping()
		if err == nil {
			return
		}
		if time.Since(began) > patience {
			c.Stop()
			c.tb.Fatalf("the server does not start: %v\n%s", err, log.String())
		}
	}
}

func (c *Cluster) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.DSN())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Stop stops the server at once, like a crash. It does not end the sessions of connected clients first.
func (c *Cluster) Stop() {
	if c.proc == nil {
		return
	}
	_ = c.proc.Process.Signal(syscall.SIGQUIT) // an immediate shutdown
	_ = c.proc.Wait()                          // reported as a failure
	c.proc = nil
}

// Standby starts the server again as a standby of no server, which can be read, but not written.
func (c *Cluster) Standby() {
	c.tb.Helper()
	c.Stop()
	if err := os.WriteFile(filepath.Join(c.data, "standby.signal"), nil, 0o600); err != nil {
		c.tb.Fatal(err)
	}
	c.Start()
}

func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.who}
	return cmd
}

// programs returns the folder of initdb, or "".
func programs() string {
	if dir := os.Getenv("EBB_TEST_INITDB"); dir != "" {
		return dir
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		dir := filepath.Dir(path)
		if _, err := exec.LookPath(filepath.Join(dir, "postgres")); err == nil {
			return dir
		}
	}
	newest, best := "", 0
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well formed
	for _, path := range found {
		dir := filepath.Dir(path)
		version, err := strconv.Atoi(strings.TrimPrefix(filepath.Dir(dir), "/usr/lib/postgresql/"))
		if err == nil && version > best {
			newest, best = dir, version
		}
	}
	return newest
}

// postgres returns the IDs of the user postgres, or nil if there is no such user.
func postgres() *syscall.Credential {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
