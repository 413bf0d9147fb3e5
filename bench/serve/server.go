package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/sigv4"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// What clients show to the server. It serves nothing but the bench, on the loopback interface.
const (
	region     = "us-east-1"
	account    = "000000000000"
	metricsKey = "bench-metrics-key-of-no-other-use"
	viewKey    = "bench-view-key-of-no-other-use-000"
)

var credentials = &sigv4.Credentials{AccessKey: "AKIDBENCHBENCHBENCH", Secret: "bench-secret-key-of-no-other-use-0000"}

// A server is an `ebb serve` on a database of its own.
type server struct {
	*bench

	folder  string
	at      string // DSN
	schema  string // on PostgreSQL
	address string
	process *exec.Cmd
	exited  chan error
	http    *http.Client
}

// serve starts a server on a new database. Its caller closes it.
func (b *bench) serve(ctx context.Context) (*server, error) {
	const idle = 2000
	s := &server{bench: b, address: "http://127.0.0.1:0", http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: idle, DisableCompression: true,
	}}}
	var err error
	if s.folder, err = os.MkdirTemp(b.dir, ""); err != nil {
		return nil, err
	}
	keys := credentials.AccessKey + " " + credentials.Secret + " aws\nbench " + metricsKey + " metrics\nviewer " +
		viewKey + " view\n"
	if err := os.WriteFile(filepath.Join(s.folder, "keys"), []byte(keys), 0o600); err != nil {
		return nil, err
	}
	s.at = "sqlite:" + filepath.Join(s.folder, "ebb.db")
	if b.dsn != "" {
		if err := s.makeSchema(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

func (s *server) makeSchema(ctx context.Context) error {
	s.schema = "ebb_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	u, err := url.Parse(s.dsn)
	if err != nil {
		return err
	}
	q := u.Query()
	q.Set("schema", s.schema)
	u.RawQuery = q.Encode()
	s.at = u.String()
	_, err = sqlstore.Migrate(ctx, s.at)
	return err
}

// start starts the process, and waits until it listens.
func (s *server) start(ctx context.Context) error {
	s.process = exec.CommandContext(ctx, s.command, "serve", "--dsn", s.at, "--listen", "127.0.0.1:0",
		"--keys", filepath.Join(s.folder, "keys"), "--aws-region", region, "--aws-account", account, "--log-level", "error",
		"--aws-quota", "state-machines=none", "--aws-quota", "swf-open-executions=none")
	output, err := s.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	address := make(chan string, 1)
	exited, process := make(chan error, 1), s.process
	s.exited = exited
	go func() {
		defer close(address)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if _, at, ok := strings.Cut(lines.Text(), " on http://"); ok {
				address <- "http://" + strings.TrimSuffix(strings.Fields(at)[0], "/")
				_, _ = io.Copy(io.Discard, output)
				break
			}
			fmt.Fprintln(os.Stderr, lines.Text())
		}
		exited <- process.Wait()
	}()
	at, ok := <-address
	if !ok {
		return errors.New("the server did not start; it says why above")
	}
	s.address = at
	return nil
}

// stop lets the process end, so that the database can be filled.
func (s *server) stop() error {
	if s.process == nil {
		return nil
	}
	s.http.CloseIdleConnections()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	s.process = nil
	const patience = 40 * time.Second
	select {
	case err := <-s.exited:
		return err
	case <-time.After(patience):
		return errors.New("the server does not end")
	}
}

// close stops the server and removes its database.
func (s *server) close(ctx context.Context) error {
	err := s.stop()
	if s.schema != "" {
		db, opened := sql.Open("pgx", s.dsn)
		if opened == nil {
			_, opened = db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+s.schema+" CASCADE")
			opened = errors.Join(opened, db.Close())
		}
		err = errors.Join(err, opened)
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}

// get requests a page of the server. Its caller closes the body.
func (s *server) get(ctx context.Context, path, key string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	return s.http.Do(r)
}

// metrics returns the values of the metrics that have no labels.
func (s *server) metrics(ctx context.Context) (map[string]float64, error) {
	answer, err := s.get(ctx, "/metrics", metricsKey)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	values := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = value
		}
	}
	if values["ebb_commits_total"] == 0 {
		return nil, fmt.Errorf("the server's metrics lack ebb_commits_total: status %d", answer.StatusCode)
	}
	return values, nil
}
