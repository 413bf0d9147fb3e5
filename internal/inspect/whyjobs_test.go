package inspect_test

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// jobStops are why no process claims a job.
var jobStops = map[string]stop{
	"job: no process": {
		build: func(w *world) { w.post() }, kind: inspect.WaitsForProcess,
		why:  `It is due since DATE \(.*\), and no process serves its flow order\. Start the program that has the flow\.`,
		page: "A job: no process claims jobs of the flow",
	},
	"job: no process of Ebb's own flow": {
		build: func(w *world) { w.post(func(j *storage.Job) { j.Flow = "ebb.bulk" }) }, kind: inspect.WaitsForProcess,
		why: `It is due since DATE \(.*\), and no process serves its flow ebb\.bulk\. Start ebb serve\.`, do: "ebb serve",
	},
	"job: rate": {
		build: func(w *world) {
			w.must(w.store.SetLimit(w.Context(), storage.Limit{Flow: "order", Rate: 1, Per: time.Minute}))
			w.must(w.store.PostJob(w.Context(), storage.Job{ID: "first", Run: "first", Flow: "order", Created: time.Now()}))
			if _, err := w.store.ClaimJobs(w.Context(), backend.JobClaim{Lease: time.Hour}); err != nil {
				w.Fatal(err)
			}
			w.wait(20 * time.Second)
			w.post()
		},
		kind: inspect.WaitsForRate,
		why: `It waits for a rate: at most 1 new ones in 1m0s of order; 1 of them began in the last 1m0s\. The next may begin at ` +
			`DATE \(in 40 s\)\.`,
		do: "ebb limit --flow order --rate 2/1m0s", page: "A job: a rate is used up",
	},
	"job: needs": {
		build: func(w *world) {
			w.claimant()
			w.post(func(j *storage.Job) { j.Labels = map[string]string{"gpu": "a100"} })
		},
		kind: inspect.WaitsForOffer, why: `It is due since DATE \(.*\), and no process offers what it needs: gpu=a100\.`,
		do: "ebb serve --offer gpu=a100", page: "A job: no process offers what it needs",
	},
	"job: is taken up": {
		build: func(w *world) { w.claimant(); w.post() }, kind: inspect.WaitsForTake,
		why: `It is due since DATE \(.*\)\. Process \d+ on \S* takes it up now\.`,
	},
	"job: is not taken up": {
		build: func(w *world) { w.claimant(); w.post(); w.wait(time.Minute) }, kind: inspect.WaitsForTake,
		why:  `It is due since DATE \(.*\)\. Process \d+ on \S* serves it, and has not taken it up yet: look into its log\.`,
		page: "A process serves the flow and does not take it up",
	},
	"job: later": {
		build: func(w *world) {
			w.post(func(j *storage.Job) { j.NotUntil = time.Now().Add(time.Hour) })
		},
		kind: inspect.WaitsForTime, why: `It waits for its time at DATE \(in 1h0m0s\)\.`, do: "ebb jobs release x",
		page: "A job: its time has not come",
	},
	"job: parked": {
		build: func(w *world) {
			w.post()
			list, err := w.store.ClaimJobs(w.Context(), backend.JobClaim{Lease: time.Hour})
			w.must(err)
			w.must(w.store.EndJob(w.Context(), backend.JobEnd{
				Job: "x", Epoch: list[0].Epoch, ClaimID: list[0].ClaimID, State: states.JobParked,
				Failure: &atom.Failure{Code: "Ebb.NoStart", Message: "no input"},
			}))
		},
		kind: inspect.WaitsForParkedJob, why: `It was set aside, after Ebb\.NoStart: no input\.`, do: "ebb jobs release x",
		page: "A job failed too often",
	},
	"job: dead claim": {
		build: func(w *world) {
			dying := w.store.Join()
			w.post()
			if _, err := dying.ClaimJobs(w.Context(), backend.JobClaim{Lease: time.Hour}); err != nil {
				w.Fatal(err)
			}
			w.must(dying.Close())
		},
		kind: inspect.WaitsForClaim, why: `The process that claimed it has died, and no process serves its flow order\. .*`,
		page: "A job: the process that claimed it has died",
	},
	"job: standby": {
		build: func(w *world) { w.claimant(); w.post(); w.asks = standby{w.store} }, kind: inspect.WaitsForDatabase,
		why: `The database takes no writes: the server is a standby .*`,
	},
	"schedule: paused": {
		build: func(w *world) {
			w.schedule()
			w.must(w.board().PauseSchedule(w.Context(), "x", true))
		},
		why: `It is paused: its ticks post no jobs\.`, do: "ebb schedule resume x", page: "A schedule: an operator paused it",
	},
	"schedule: no process": {
		build: func(w *world) { w.schedule(); w.wait(2 * time.Hour) },
		why:   `It is due since DATE \(.*\), and no process posts its jobs\.`, do: "ebb serve",
		page: "A schedule: no process posts its jobs",
	},
	"schedule: later": {
		build: func(w *world) { w.claimant(); w.schedule() }, why: `It ticks next at DATE \(.*\)\.`,
	},
	"schedule: later, no process": {
		build: func(w *world) { w.schedule() }, why: `It ticks next at DATE \(.*\), but no process posts its jobs now\.`,
		do: "ebb serve", page: "A schedule: its time has not come, and no process would post its job then",
	},
	"schedule: standby": {
		build: func(w *world) { w.schedule(); w.asks = standby{w.store} },
		why:   `The database takes no writes: the server is a standby .*`,
	},
}
