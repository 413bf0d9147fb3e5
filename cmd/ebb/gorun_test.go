package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// gorun is a program with a flow in Go, as others have it: gorun RUN [WAIT]
// drives a run until it rests, or with WAIT until it only waits. The order is
// approved by the party that has a token, paid by a signal, and delivered unless the
// file broken is there. If the file changed is there, the flow has another step. What it does it notes in a file named after the run.
func gorun() {
	if err := order(context.Background(), os.Args[1], len(os.Args) > 2); err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
}

func order(ctx context.Context, run string, unload bool) (err error) {
	store, err := sqlstore.Open(ctx, "ebb.db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	note := func(text string) error {
		f, err := os.OpenFile(run+".journal", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, text)
		return errors.Join(err, f.Close())
	}
	broken := func() error {
		if _, err := os.Stat("broken"); err == nil {
			return atom.Errorf("Broken", "it is broken")
		}
		return nil
	}
	step := func(name string, do func(context.Context) error, opts ...atom.Option) *atom.Atom {
		return atom.Pair(name,
			func(ctx context.Context, _ struct{}) (string, error) {
				return name, errors.Join(do(ctx), note(name))
			},
			func(_ context.Context, _ struct{}, _ atom.Outcome[string]) error {
				return errors.Join(broken(), note("undo "+name))
			},
			append(opts, atom.As(name))...)
	}
	steps := []flow.Node{
		step("reserve", func(ctx context.Context) error { atom.Progress(ctx, 0.4, "two of five"); return nil }),
		step("approve", func(context.Context) error { return atom.ErrDeferred }, atom.Deferrable(atom.Deferral{Deadline: time.Hour})),
		atom.Awaits[string]("pay", "paid", atom.Deferral{}, atom.As("receipt")),
		step("deliver", func(context.Context) error { return broken() }),
	}
	if _, err := os.Stat("changed"); err == nil {
		steps = append(steps, step("ship", func(context.Context) error { return nil }))
	}
	eng, err := engine.New(flow.Linear("order", steps...), store)
	if err != nil {
		return err
	}
	var opts []engine.RunOption
	if unload {
		opts = append(opts, engine.Unload())
	}
	res, err := eng.Run(ctx, run, opts...)
	if res != nil {
		fmt.Fprintln(os.Stdout, run, res.Run.State)
	}
	return err
}
