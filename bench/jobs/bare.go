package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// The statements with which one connection claims and ends jobs on Ebb's rows.
const (
	bareClaim = `UPDATE jobs SET state = 1, epoch = epoch + 1, attempts = attempts + 1, claim = $1, owner = 'bare',
lease = CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) + 60000000
WHERE n = ANY (ARRAY(SELECT n FROM jobs WHERE state = 0 ORDER BY priority DESC, n LIMIT $2
FOR UPDATE SKIP LOCKED)) RETURNING id`
	bareEnd = `UPDATE jobs SET state = 4, ended = 1, claim = '', owner = '', lease = NULL WHERE id = ANY ($1)
		AND claim = $2 AND state = 1`
)

// bare measures the bound: one connection claims and ends as many jobs at a time as there are workers, on the same rows
// as Ebb. It uses two commits for that, and then one, which ends jobs and claims the next.
func bare(ctx context.Context) error {
	counts, err := numbers(*workers)
	if err != nil {
		return err
	}
	for _, n := range counts {
		for _, commits := range []int{2, 1} {
			var rates []float64
			for range *rounds {
				rate, err := bareJobs(ctx, n, commits)
				if err != nil {
					return err
				}
				rates = append(rates, rate)
			}
			report(fmt.Sprintf("bare, %d workers, COMMITs for each: %d", n, commits), rates)
		}
	}
	return nil
}

func bareJobs(ctx context.Context, workers, commits int) (rate float64, err error) {
	at, leave, err := fresh(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	store, err := sqlstore.Open(ctx, at)
	if err != nil {
		return 0, err
	}
	defer func() { _ = store.Close() }()
	if err := post(ctx, jobs.New(store, jobs.Policy{}), *number, "nothing"); err != nil {
		return 0, err
	}
	config, err := pgx.ParseConfig(strings.Replace(at, "schema=", "search_path=", 1))
	if err != nil {
		return 0, err
	}
	config.RuntimeParams["enable_bitmapscan"], config.RuntimeParams["enable_seqscan"] = "off", "off" // as Ebb sets them
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	claim, held, done := "", []string(nil), 0
	begun := time.Now()
	for done < *number {
		var batch pgx.Batch
		batch.Queue("BEGIN")
		if len(held) > 0 {
			ids := held
			batch.Queue(bareEnd, ids, claim)
			done, held = done+len(ids), nil
			if commits == 2 {
				batch.Queue("COMMIT")
				if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
					return 0, err
				}
				batch = pgx.Batch{}
				batch.Queue("BEGIN")
			}
		}
		claim = uuid.NewString()
		batch.Queue(bareClaim, claim, workers).Query(func(rows pgx.Rows) (err error) {
			held, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		batch.Queue("COMMIT")
		if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
			return 0, err
		}
	}
	return perSecond(*number, begun), nil
}
