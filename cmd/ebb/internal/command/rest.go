package command

import (
	"context"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/draft"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
)

// restAPI serves the REST API of a store, with what the languages know of their runs. Definitions that it stores may
// only name the tasks that the defaults map.
func (s subcommands) restAPI(store backend.Store, defaults definition.Beginning) *api.API {
	flows := &definition.Catalog{Store: store}
	return api.New(store, api.Options{
		Diagnose: func(ctx context.Context, run storage.Run) (*inspect.Diagnosis, error) {
			return diagnosisOf(ctx, store, run)
		},
		Machine: flows.Waits,
		Flow:    flows.Flow,
		Languages: draft.New(flows, definition.Reading{Profile: s.Profile()}, func(resource string) bool {
			return defaults.Tasks[resource] != ""
		}),
		Trials: &server.Trials{},
	})
}

// httpTask is the resource of HTTP tasks, whose input names the URL.
const httpTask = "arn:aws:states:::http:invoke"

// isForeign reports whether a run may send requests only to what --allow names, because the operator did not write its
// definition. Only HTTP tasks name URLs while a run executes.
func (w *serving) isForeign(ctx context.Context, store storage.NamedRecords, run *storage.Run, m definition.Machine,
) (bool, error) {
	if sfn.IsExecution(run) {
		return !w.given().own[run.Definition], nil
	}
	if m == nil || run.Definition == "" ||
		!slices.ContainsFunc(m.Uses(), func(use definition.TaskUse) bool { return strings.HasPrefix(use.Task, httpTask) }) {
		return false, nil
	}
	return api.FromNetwork(ctx, store, run.Definition)
}
