package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // DBOS's dialect of SQLite
	"github.com/jackc/pgx/v5/pgxpool"
)

// runDBOS executes a workload with DBOS.
func runDBOS(ctx context.Context, p place, w workload) (took time.Duration, err error) {
	config := dbos.Config{AppName: "bench", Logger: slog.New(slog.DiscardHandler), DatabaseSchema: p.schema}
	if p.server != "" {
		pool, err := pgxpool.New(ctx, p.server)
		if err != nil {
			return 0, err
		}
		defer pool.Close()
		config.SystemDBPool = pool
	} else {
		db, err := openSQLite(p.file)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		config.SQLiteSystemDB = db
	}
	app, err := dbos.NewContext(ctx, config)
	if err != nil {
		return 0, err
	}
	watch := &stopwatch{warm: w.warm}
	step := func(context.Context) (string, error) {
		watch.step()
		return body, nil
	}
	workflow := func(ctx dbos.Context, steps int) (string, error) {
		if w.parallel {
			return body, sideBySide(ctx, steps, step)
		}
		for range steps {
			if _, err := dbos.RunAsStep(ctx, step); err != nil {
				return "", err
			}
		}
		return body, nil
	}
	dbos.RegisterWorkflow(app, workflow, dbos.WithWorkflowName("bench"))
	if err := dbos.Launch(app); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dbos.Shutdown(app, time.Minute)) }()
	return watch.time(ctx, w, func(_ context.Context, i int) error {
		handle, err := dbos.RunWorkflow(app, workflow, w.steps, dbos.WithWorkflowID(fmt.Sprintf("run-%d", i)))
		if err != nil {
			return err
		}
		_, err = handle.GetResult()
		return err
	})
}

// openSQLite opens the file with one connection. DBOS's own pool syncs the log only when it is copied into the
// database (synchronous=NORMAL), so a power failure would lose committed steps. With eight connections, DBOS was as
// fast or slower: they wait for each other's locks.
func openSQLite(file string) (*sql.DB, error) {
	q := url.Values{
		"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(5000)", "foreign_keys(ON)"},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// sideBySide executes steps at the same time.
func sideBySide(ctx dbos.Context, steps int, step dbos.Step[string]) error {
	outcomes := make([]<-chan dbos.StepOutcome[string], steps)
	for i := range outcomes {
		var err error
		if outcomes[i], err = dbos.Go(ctx, step); err != nil {
			return err
		}
	}
	var failed error
	for _, outcome := range outcomes {
		failed = errors.Join(failed, (<-outcome).Err)
	}
	return failed
}
