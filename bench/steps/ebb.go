package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// runEbb executes a workload with Ebb. On both databases, Ebb waits for the disk at each commit.
func runEbb(ctx context.Context, p place, w workload) (took time.Duration, err error) {
	dsn := "sqlite:" + p.file
	if p.server != "" {
		if dsn, err = p.parameter("schema", p.schema); err != nil {
			return 0, err
		}
		if _, err := sqlstore.Migrate(ctx, dsn); err != nil {
			return 0, err
		}
	}
	store, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	watch := &stopwatch{warm: w.warm}
	nodes := make([]flow.Node, w.steps)
	for i := range nodes {
		nodes[i] = atom.Func(fmt.Sprintf("step%d", i), func(context.Context, struct{}) (string, error) {
			watch.step()
			return body, nil
		})
	}
	var f flow.Node = flow.Linear("bench", nodes...)
	if w.parallel {
		f = flow.Unordered("bench", nodes...)
	}
	eng, err := engine.New(f, store, engine.WithParallelism(w.steps))
	if err != nil {
		return 0, err
	}
	return watch.time(ctx, w, func(ctx context.Context, i int) error {
		_, err := eng.Run(ctx, fmt.Sprintf("run-%d", i))
		return err
	})
}
