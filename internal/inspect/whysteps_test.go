package inspect_test

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// stepStops are what the steps of a run wait for.
var stepStops = map[string]stop{
	"signal": {
		build: func(w *world) { w.begun(orders()) },
		kind:  inspect.WaitsForSignal, why: `approve waits for the signal approved since DATE \(.*\), until DATE \(.* left\)\.`,
		do: `ebb signal x approved --data '"…"'`, lists: `approve waits for the signal "approved"`,
		page: "A step waits for a signal",
	},
	"a signal that nothing waits for": {
		build: func(w *world) {
			w.begun(flow.Linear("order", blocks()))
			w.must(w.store.Send(w.Context(), storage.Message{Run: "x", Kind: grow.MessageSignal, Name: "payd", Sent: time.Now()}))
		},
		kind: inspect.WaitsForReading, why: `In its inbox is: signal payd since DATE \(.*\); nothing waits for it now\.`,
		lists: `charge executes`, page: "A signal has a wrong name, or came early",
	},
	"execution": {
		build: func(w *world) { w.begun(flow.Linear("order", blocks())) },
		kind:  inspect.WaitsForExecution, why: `charge is being executed since DATE \(.*\)\.`, lists: `charge executes`,
		page: "A task takes long",
	},
	"retry": {
		build: func(w *world) {
			fails := atom.Func("charge", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("busy") },
				atom.Attempts(2, atom.Constant(time.Hour)))
			w.begun(flow.Linear("order", fails))
		},
		kind: inspect.WaitsForRetry, why: `charge is retried at DATE \(in .*\), as attempt 2, after Error: busy\.`,
		lists: `waits for a retry, within 1h`, page: "A failed task is tried again later",
	},
	"undo failed": {
		build: undoFailed,
		kind:  inspect.WaitsForMending, why: `book could not be undone, after Error: the office is closed\.`,
		do: "ebb retry --revert x book --no-wait", page: "The undo of a step failed",
	},
	"timer": {
		build: func(w *world) { w.begun(flow.Growing("order", pauses{})) },
		kind:  inspect.WaitsForTime, why: `Run x is RUNNING, and waits\. Process \d+ on \S* wakes it at DATE \(in .*\)\.`,
		lists: "waits for a timer, within 1h", page: "A timer",
	},
	"worker": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", atom.New("charge", queued{})))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(2 * time.Minute)
		},
		kind: inspect.WaitsForWorker, why: `charge waits for a worker that asks for "cards" since DATE \(.*\)\. No worker asks for it\.`,
		lists: `charge waits for workers of "cards"; no worker asks for it`, page: "No worker asks for the work of a queue",
	},
	"worker of an undo": {
		build: func(w *world) {
			w.begun(flow.Linear("order", atom.RemotePair[struct{}, struct{}]("pack", "pack", "unpack"),
				atom.Func("charge", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no") })))
			work, err := engine.TakeWork(w.Context(), w.store, "pack", "w")
			w.must(err)
			_, err = engine.EndToken(w.Context(), w.store, work.Token, storage.TokenEnd{Take: work.Take, Result: atom.MustEncode(struct{}{})})
			w.must(err)
			w.wait(2 * time.Minute)
		},
		kind:  inspect.WaitsForWorker,
		why:   `The undo of pack waits for a worker that asks for "unpack" since DATE \(.*\)\. No worker asks for it\.`,
		lists: `pack waits for workers of "unpack"; no worker asks for it`, page: "No worker asks for the work of an undo",
	},
	"child run": {
		build: func(w *world) { w.begun(flow.Linear("order", flow.Run[struct{}, struct{}]("pack", orders()))) },
		kind:  inspect.WaitsForRun, why: `pack waits for the run ".*" since DATE \(.*\)\.`,
		lists: "pack waits for the run that it began", page: "A step waits for the run that it began",
	},
	"clock": {
		build: func(w *world) {
			w.begun(orders())
			w.behind = time.Hour
		},
		kind: inspect.WaitsForSignal, lists: `approve waits for the signal "approved"`,
		why: `It has changed at DATE, which has not come yet: a clock is wrong, and times come early or ` +
			`late\.`,
		page: "The clock of a machine is wrong",
	},
	"timed out": {
		build: func(w *world) {
			e := w.engine(orders())
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(2 * time.Hour)
		},
		why: `It failed at approve: Timeout: the attempt did not end before its deadline\.`, page: "A wait has timed out",
	},
	"undone, and the undo failed": {
		build: undoFailed,
		kind:  inspect.WaitsForMending, why: `It was undone because charge failed: Error: no\.`,
		do: "ebb skip x book --no-wait", page: "The undo of a step failed, after this",
	},
	"listening": {
		build: func(w *world) { w.begun(flow.Growing("order", listener{})) },
		kind:  inspect.WaitsForMessage, why: `It listens for a message since DATE \(.*\), such as a signal\.`,
		lists: `waits for a message or an event for "order"`, page: "A growing flow listens (`Growth.Listen`)",
	},
	"overdue": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", atom.New("charge", queued{}, atom.Timeout(time.Hour))))
			halt := w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Minute)
			halt()
			w.wait(2 * time.Hour)
		},
		kind: inspect.WaitsForProcess, why: `charge waits for a worker that asks for "cards" since DATE \(.*\), until DATE \(.* ago\).*`,
		lists: "It is due since DATE",
	},
}
