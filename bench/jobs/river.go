package main

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type nothing struct {
	N int `json:"n"`
}

func (nothing) Kind() string { return "nothing" }

type worker struct{ river.WorkerDefaults[nothing] }

func (worker) Work(context.Context, *river.Job[nothing]) error { return nil }

// riverJobs measures River, which fetches as often as its settings allow. A job counts when its end is in the database.
func riverJobs(ctx context.Context, workers int) (rate float64, err error) {
	schema := "river_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := execute(ctx, "CREATE SCHEMA "+schema); err != nil {
		return 0, err
	}
	defer func() { _ = execute(context.WithoutCancel(ctx), "DROP SCHEMA "+schema+" CASCADE") }()
	config, err := pgxpool.ParseConfig(*dsn)
	if err != nil {
		return 0, err
	}
	config.ConnConfig.RuntimeParams["search_path"] = schema
	config.MaxConns = 9 // as many as Ebb uses
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return 0, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return 0, err
	}
	all := river.NewWorkers()
	river.AddWorker(all, worker{})
	client, err := river.NewClient(driver, &river.Config{
		Workers: all, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		FetchCooldown: time.Millisecond, FetchPollInterval: 10 * time.Millisecond,
	})
	if err != nil {
		return 0, err
	}
	list := make([]river.InsertManyParams, *number)
	for i := range list {
		list[i].Args = nothing{i}
	}
	for len(list) > 0 {
		n := min(len(list), 1000)
		if _, err := client.InsertManyFast(ctx, list[:n]); err != nil {
			return 0, err
		}
		list = list[n:]
	}
	completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: *number, Kinds: []river.EventKind{
		river.EventKindJobCompleted,
	}})
	defer cancel()
	begun := time.Now()
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	for range *number {
		<-completed
	}
	rate = perSecond(*number, begun)
	return rate, client.Stop(ctx)
}
