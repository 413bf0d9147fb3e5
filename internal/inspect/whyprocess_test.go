package inspect_test

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// processStops are why no process drives a run that could go on.
var processStops = map[string]stop{
	"operator": {
		build: func(w *world) {
			e := w.engine(orders())
			w.must(e.Start(w.Context(), "x"))
			_, err := engine.Suspend(w.Context(), w.store, "x")
			w.must(err)
		},
		kind: inspect.WaitsForOperator, why: `Run x is PENDING\. An operator suspended it\.`, do: "ebb resume x",
		lists: "waits for an operator, who suspended it", page: "An operator suspended the run",
	},
	"no process of a Go flow": {
		build: func(w *world) { w.must(w.engine(orders()).Start(w.Context(), "x")) },
		kind:  inspect.WaitsForProcess,
		why:   `It is due since DATE \(.*\), and no process serves its flow order\. Start the program that has the flow\.`,
		page:  "No program serves the flow",
	},
	"no process of a definition": {
		build: func(w *world) {
			w.must(w.store.Create(w.Context(), storage.Run{ID: "x", Flow: "order", Definition: "d", Due: time.Now()}))
		},
		kind: inspect.WaitsForProcess, why: `It is due since DATE \(.*\), and no process serves its flow order\. Start ebb serve\.`,
		do: "ebb serve", page: "No `ebb serve` runs",
	},
	"no process of Ebb's own flow": {
		build: func(w *world) {
			w.must(w.store.Create(w.Context(), storage.Run{ID: "x", Flow: "swf", Due: time.Now()}))
		},
		kind: inspect.WaitsForProcess, why: `It is due since DATE \(.*\), and no process serves its flow swf\. Start ebb serve\.`,
		do: "ebb serve",
	},
	"owner died": {
		build: func(w *world) {
			dying := w.store.Join()
			e, err := engine.New(orders(), enginetest.DieAt(dying, 1))
			w.must(err)
			_, _ = e.Run(w.Context(), "x")
			w.must(dying.Close())
		},
		kind: inspect.WaitsForProcess, why: `It (is due since DATE \(.*\)|could go on), and no process serves its flow order\. .*`,
		page: "The process of the run has died, and no other serves the flow",
	},
	"process cannot write": {
		build: func(w *world) {
			w.begun(flow.Linear("order", blocks()))
			_, err := w.store.WriteRecords(w.Context(), storage.RecordWrite{
				Kind: inspect.ProcessRecords, Key: w.store.Owner().ID, Was: storage.AnyRevision,
				Body: atom.MustEncode(inspect.ProcessRecord{Fault: "disk_full", Since: time.Now()}),
			})
			w.must(err)
		},
		kind: inspect.WaitsForDatabase,
		why:  `The database takes no writes: disk_full since .*, as process \d+ on \S* has recorded\. Nothing goes on until it does\.`,
		page: "The process that drives the run cannot write the database",
	},
	"stopped process": {
		build: func(w *world) {
			w.begun(flow.Linear("order", blocks()))
			w.asks = stopped{w.store}
		},
		kind: inspect.WaitsForStopped,
		why: `Process \d+ on \S* was stopped: kill -CONT \d+ lets it continue\. Or end it with kill -9 \d+: then another process ` +
			`can take the run over\.`,
		page: "The process that drives the run was stopped (SIGSTOP, a debugger)",
	},
	"crash loop": {
		build: func(w *world) {
			for range 20 { // which kills each process, until it is set aside
				dying := w.store.Join()
				ctx, cancel := context.WithCancel(w.Context())
				kills := atom.Func("charge", func(context.Context, struct{}) (struct{}, error) {
					dying.Die()
					cancel()
					<-ctx.Done()
					return struct{}{}, ctx.Err()
				})
				e, err := engine.New(flow.Linear("order", kills), dying, engine.WithGrace(0))
				w.must(err)
				if err := e.Start(w.Context(), "x"); err != nil && !errors.Is(err, storage.ErrExists) {
					w.Fatal(err)
				}
				served := make(chan error, 1)
				go func() { served <- e.Serve(ctx) }()
				w.wait(time.Minute)
				cancel()
				w.Log(<-served) // the process has died, or found the run set aside
				_ = dying.Close()
				if run, err := w.store.Run(w.Context(), "x"); err == nil && run.NeedsPerson() {
					return
				}
			}
		},
		kind: inspect.WaitsForPerson, why: `It was set aside: .* \(Ebb\.Lost\)\.`,
		page: "The run kills the processes that drive it",
	},
	"missing definition": {
		build: func(w *world) {
			w.serve(w.engine(orders(), engine.WithCatalog(noDefinitions{})))
			w.must(w.store.Create(w.Context(), storage.Run{ID: "x", Flow: "order", Definition: "d", Due: time.Now()}))
			w.wait(5 * time.Second)
		},
		kind: inspect.WaitsForFlow,
		why: `Process \d+ on \S* refused it at DATE \(.* ago\): its definition is not in the database any more; ebb serve FILE ` +
			`stores it again\.`,
		page: "The definition of the run was deleted, or is in another database",
	},
	"changed flow": {
		build: func(w *world) {
			w.begun(orders())()
			w.must(w.store.Send(w.Context(), storage.Message{
				Run: "x", Kind: grow.MessageSignal, Name: "approved", Body: atom.MustEncode("yes"), Sent: time.Now(),
			}))
			w.serve(w.engine(orders(step("ship"))))
			w.wait(2 * time.Second)
		},
		kind: inspect.WaitsForFlow,
		why: `Process \d+ on \S* refused it at DATE \(.* ago\): the flow has changed since the run was begun: added: "ship"; ` +
			`add the earlier flow to engine\.Flows of engine\.WithCatalog, or see engine\.AcceptChange\.`,
		page: "The program that serves the flow has changed it",
	},
	"refused": {
		build: func(w *world) {
			w.begun(orders())()
			if _, err := w.engine(orders(step("ship"))).Run(w.Context(), "x", engine.Existing()); !errors.Is(err, engine.ErrChanged) {
				w.Fatal(err)
			}
		},
		kind: inspect.WaitsForFlow,
		why: `Process \d+ on \S* refused it at DATE \(.* ago\): the flow has changed since the run was begun: added: "ship"; ` +
			`add the earlier flow to engine\.Flows of engine\.WithCatalog, or see engine\.AcceptChange\.`,
	},
	"limit": {
		build: func(w *world) {
			w.must(w.store.SetLimit(w.Context(), storage.Limit{Flow: "order", Runs: 1}))
			e := w.engine(flow.Linear("order", blocks()))
			w.serve(e)
			w.must(e.Start(w.Context(), "first"))
			w.wait(time.Second)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForPlace,
		why:  `It waits for a limit: at most 1 at once of order; 1 of them is driven now\. It goes on when one of them ends or waits\.`,
		do:   "ebb limit 2 --flow order", page: "A limit of runs is reached",
	},
	"slots": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", blocks()))
			w.serve(e, engine.WithSlots(1))
			w.must(e.Start(w.Context(), "first"))
			w.wait(10 * time.Second)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForSlot,
		why: `It is due since DATE \(.*\)\. Process \d+ on \S* serves it, and takes it up when a slot is free: all its slots ` +
			`\(1\) are taken\. Start another process, or give it more slots \(ebb serve --slots, engine\.WithSlots\)\.`,
		page: "All slots of the process are taken",
	},
	"memory": {
		build: func(w *world) {
			e := w.engine(orders(), engine.WithLimits(engine.Limits{Memory: 1}))
			w.serve(e)
			w.wait(10 * time.Second)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForMemory,
		why: `It is due since DATE \(.*\)\. Process \d+ on \S* serves it, but takes up no run now: it uses more memory than its ` +
			`budget\. Start another process, or give it more memory\.`,
		page: "The memory budget of the process is used up",
	},
	"needs": {
		build: func(w *world) {
			e := w.engine(orders())
			w.serve(e)
			w.must(e.Start(w.Context(), "x", engine.Labels(map[string]string{"needs.gpu": "a100"})))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForOffer, why: `It is due since DATE \(.*\), and no process offers what it needs: gpu=a100\.`,
		do: "ebb serve --offer gpu=a100", page: "No process offers what the run needs",
	},
	"standby": {
		build: func(w *world) {
			w.begun(orders())
			w.asks = standby{w.store}
		},
		kind: inspect.WaitsForDatabase,
		why:  `The database takes no writes: the server is a standby \(pg_is_in_recovery\)\. Nothing goes on until it does\.`,
		page: "The database is for reading only: a standby, a disk that was mounted so",
	},
}
