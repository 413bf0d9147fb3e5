package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/states"
)

// A param is a parameter of a query.
type param struct {
	name, kind, text string
}

// mayRepeat ends the text of a parameter that may be there several times.
const mayRepeat = "; may be repeated"

var (
	limit  = param{"limit", "integer", "maximum number of objects, 1 to 500; 50 if left out"}
	cursor = param{"cursor", "string", "next of the page before; one that is not known begins anew"}
	after  = param{"after", "string", "next of the page before"}
	below  = param{"below", "string", "path of the step; the run itself if left out"}
)

// routes are the operations of the API.
func routes() []route {
	return slices.Concat(reads(), drafts(), writes())
}

func get(path, name, summary string, answer any, serve func(*api, *call) (any, error), params ...param) route {
	return route{
		method: http.MethodGet, path: path, name: name, summary: summary, answer: answer, serve: serve, params: params,
		status: http.StatusOK,
	}
}

func post(path, name, summary string, body, answer any, status int, serve func(*api, *call) (any, error)) route {
	return route{
		method: http.MethodPost, path: path, name: name, summary: summary, body: body, answer: answer, status: status,
		serve: serve,
	}
}

func reads() []route {
	return []route{
		get("runs", "listRuns", "Runs, newest first", Runs{}, (*api).runs,
			param{"filter", "string", "such as state:FAILURE -flow:trip ended:<1h"}, cursor, limit),
		get("counts", "countRuns", "Runs by state and over time", Counts{}, (*api).counts,
			param{"filter", "string", "as of runs"},
			param{"width", "string", "length of the spans of time, such as 1h: at most the last 500; none if left out"},
			param{"by", "string", "fields by which to count too, such as code,flow,label:region; none if left out"}),
		get("waiting", "listWaiting", "What all open runs wait for, in groups, as ebb waiting -o json", inspect.Waiting{},
			(*api).waiting),
		get("runs/{run}", "getRun", "A run, as ebb show -o json begins", inspect.Summary{}, (*api).one),
		get("runs/{run}/atoms", "listAtoms", "Atoms of a run, by path", Atoms{}, (*api).atoms, after, limit),
		get("runs/{run}/steps", "listSteps", "A level of the tree of a run: the steps below one", inspect.Level{},
			(*api).steps, below, param{"from", "integer", "number of the first step, from 0; 0 if left out"}, after, limit),
		get("runs/{run}/strip", "countItems", "How the items directly below a step stand", inspect.Strip{}, (*api).strip,
			below),
		get("runs/{run}/history", "getHistory", "History of a run", History{}, (*api).history,
			param{"after", "integer", "number of the last line that is known"}, limit),
		get("runs/{run}/events", "listEvents", "History of a run in the terms of its language, such as AWS's events",
			Events{}, (*api).events, param{"after", "integer", "number that the page before gave; 0 if left out"}, limit),
		get("runs/{run}/undo", "getUndoStack",
			"What of a run can be reverted, the top of the stack first; runs of Go flows have no stack", UndoStack{},
			(*api).undoStack, param{"below", "integer", "number of the last entry that is known"}, limit),
		get("runs/{run}/why", "explainRun", "Why a run is in its state, and what would change that", Why{}, (*api).why),
		get("runs/{run}/preview", "previewCommand",
			"What a command to a run would undo, in order, and at which points of no return that stops", Preview{},
			(*api).preview,
			param{"command", "string", "revert, cancel or retry; revert if left out"},
			param{"to", "string", "revert: only what would be undone after this atom"},
			param{"from", "string", "retry: path of the atom to resume from"}),
		get("processes", "listProcesses", "Processes that use the database, or did so until lately", Processes{},
			(*api).processes),
		get("jobs", "listJobs", "Jobs, in the order in which they are claimed", Jobs{}, (*api).jobs,
			param{"state", "string", "only jobs in this state" + mayRepeat}, after, limit),
		get("jobs/{job}", "getJob", "A job", inspect.Job{}, (*api).job),
		get("bulk", "previewBulk", "Which runs would get a bulk command now, and which would refuse it, and why",
			bulk.Answers{}, (*api).previewBulk, param{"filter", "string", "as of runs"},
			param{"command", "string", "cancel, suspend, resume, retry, revert, retry-revert, skip, signal or complete"},
			param{"path", "string", "the step that the command is about; none if left out"},
			param{"name", "string", "signal: its name"}),
		get("schedules", "listSchedules", "Schedules", Schedules{}, (*api).schedules, after, limit),
		get("limits", "listLimits", "All limits, with how many runs they count now", Limits{}, (*api).limits),
		get("definitions", "listDefinitions", "Stored definitions, without their texts", Definitions{}, (*api).definitions,
			param{"flow", "string", "only definitions of this flow"}, after, limit),
		get("audit", "listCommands", "Who commanded what, newest first", Audit{}, (*api).audit,
			param{"run", "string", "only commands to this run"}, param{"by", "string", "only commands of this name"},
			param{"command", "string", "only this command, such as cancel, or bulk for all bulk commands"},
			param{"time", "string", "only in this range, such as <1h or 2026-01-31..2026-02-01"},
			param{"posts", "boolean", "only posted jobs, which are left out otherwise"},
			param{"below", "integer", "n of the last line that is known"},
			limit),
		get("definitions/{definition}", "getDefinition", "A stored definition", Definition{}, (*api).definition),
		get("definitions/{definition}/graph", "getDefinitionGraph", "The graph of a definition, with positions", Graph{},
			(*api).definitionGraph),
		get("runs/{run}/graph", "getRunGraph", "The graph of a run, with positions and what became of it", Graph{},
			(*api).runGraph),
	}
}

// drafts are the operations for those who write definitions. The editor of the console has a form for them.
func drafts() []route {
	return []route{
		post("validate", "validateDefinition", "Report the problems of a definition, and draw it", validateBody{},
			Validation{}, http.StatusOK, (*api).validate),
		post("try", "tryDefinition", "Run a definition in memory, in virtual time, with mocks in place of all tasks",
			tryBody{}, TrialResult{}, http.StatusOK, (*api).try),
		post("definitions", "storeDefinition", "Store a definition, as the newest version of its flow", definitionBody{},
			Definition{}, http.StatusOK, (*api).storeDefinition),
	}
}

func writes() []route {
	return []route{
		post("runs/{run}/cancel", "cancelRun", "End a run and undo what it did", cancelBody{}, Sent{}, http.StatusAccepted,
			sends[cancelBody]("cancel")),
		post("runs/{run}/suspend", "suspendRun", "Suspend a run", suspendBody{}, Sent{}, http.StatusAccepted,
			sends[suspendBody]("suspend")),
		post("runs/{run}/retry", "retryRun", "Resume a run where it failed, or from an atom", retryBody{}, Sent{},
			http.StatusAccepted, sends[retryBody]("retry")),
		post("runs/{run}/revert", "revertRun", "Undo what a run did, even if it succeeded", revertBody{}, Sent{},
			http.StatusAccepted, sends[revertBody]("revert")),
		post("runs/{run}/retry-revert", "retryRevert", "Retry reverts that failed", retryRevertBody{}, Sent{},
			http.StatusAccepted, sends[retryRevertBody]("retry-revert")),
		post("runs/{run}/skip", "skipRevert", "Treat an atom whose revert failed as undone", skipBody{}, Sent{},
			http.StatusAccepted, sends[skipBody]("skip")),
		post("runs/{run}/signal", "signalRun", "Send a signal or an event to a run", signalBody{}, Sent{},
			http.StatusAccepted, (*api).signal),
		post("tokens/{token}/complete", "completeToken", "Complete or fail the atom that waits for a token", completeBody{},
			Completed{}, http.StatusOK, (*api).complete),
		post("runs/{run}/resume", "resumeRun", "Resume a suspended run", resumeBody{}, Sent{}, http.StatusAccepted,
			sends[resumeBody]("resume")),
		post("jobs", "postJob", "Post a job: a request for a run", jobBody{}, inspect.Job{}, http.StatusOK, (*api).postJob),
		post("bulk", "bulkCommand", "Give a command to all runs that a filter selects", bulkBody{}, inspect.Job{},
			http.StatusOK, (*api).bulk),
		post("jobs/{job}/cancel", "cancelJob", "End an unclaimed job", reasonBody{}, inspect.Job{}, http.StatusOK,
			changeJob("cancel", states.JobComplete, func(ctx context.Context, b *jobs.Board, c *call) error {
				var body reasonBody
				if err := c.decode(&body); err != nil {
					return err
				}
				return b.Cancel(ctx, c.PathValue("job"), body.Reason)
			})),
		post("jobs/{job}/release", "releaseJob", "Let a job be claimed at once", nil, inspect.Job{}, http.StatusOK,
			changeJob("release", states.JobUnclaimed, func(ctx context.Context, b *jobs.Board, c *call) error {
				return b.Release(ctx, c.PathValue("job"))
			})),
		post("schedules", "addSchedule", "Add a schedule, or change it", scheduleBody{}, inspect.Schedule{}, http.StatusOK,
			(*api).addSchedule),
		post("schedules/{schedule}/pause", "pauseSchedule", "Let the ticks of a schedule post no jobs", nil,
			inspect.Schedule{}, http.StatusOK, pauseSchedule("pause", true)),
		post("schedules/{schedule}/resume", "resumeSchedule", "Let the ticks of a schedule post jobs again", nil,
			inspect.Schedule{}, http.StatusOK, pauseSchedule("resume", false)),
		post("schedules/{schedule}/remove", "removeSchedule", "Remove a schedule; its posted jobs stay", nil, Removed{},
			http.StatusOK, (*api).removeSchedule),
		post("limits", "setLimit", "Set a limit, or remove it", limitBody{}, Limits{}, http.StatusOK, (*api).setLimit),
	}
}

type reasonBody struct {
	Reason string `json:"reason,omitempty" text:"is stored with the job"`
}
