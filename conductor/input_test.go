package conductor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestJobsThatDoNotFit: a board without the code of a flow refuses a job with an input that no run of the flow takes, once
// a conductor that has the flow has served.
//
// Guarantee (Jobs): A job whose input lacks what its flow requires, or has another type, is refused when it is posted, if a
// process that has the flow has served the database.
func TestJobsThatDoNotFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		type first struct {
			Size int8 `json:"size"`
		}
		type second struct {
			Size string `json:"size"`
		}
		catalog := conductor.NewCatalog().
			Add(1, flow.Linear("f", atom.Func("a", func(context.Context, first) (struct{}, error) { return struct{}{}, nil }))).
			Add(2, flow.Linear("f", atom.Func("a", func(context.Context, second) (struct{}, error) { return struct{}{}, nil })))
		board := jobs.New(store, jobs.Policy{})
		post := func(id, flowName string, version int64, input string) error {
			_, err := board.Post(t.Context(), jobs.Job{ID: id, Flow: flowName, Version: version, Input: atom.FromJSON([]byte(input))})
			return err
		}
		if err := post("early", "f", 0, `{"size":[]}`); err != nil {
			t.Error("before a conductor has served:", err)
		}
		serve(t, store, catalog, time.Second)
		for _, bad := range []struct {
			version     int64
			input, says string
		}{
			{0, `{"size":1}`, `the input "size": it is of the JSON type number`},
			{2, `{"size":["one"]}`, `the input "size"`},
			{1, `{"size":"one"}`, `the input "size"`},
			{1, `{"size":128}`, `the input "size"`},
			{1, `{"Size":1}`, `the input lacks "size"; such as {"size": 0}`},
			{0, `[]`, `not an object`},
			{0, "{\"size\":\"\xff\"}", `UTF-8`},
		} {
			err := post("bad", "f", bad.version, bad.input)
			if !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), bad.says) {
				t.Errorf("version %d, %s: %v", bad.version, bad.input, err)
			}
			if _, err := board.Job(t.Context(), "bad"); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("the job was posted: %v", err)
			}
			schedule := jobs.Schedule{ID: "s", Spec: "@daily", Job: jobs.Job{
				Flow: "f", Version: bad.version, Input: atom.FromJSON([]byte(bad.input)),
			}}
			if err := board.AddSchedule(t.Context(), schedule); !errors.Is(err, storage.ErrInvalid) {
				t.Errorf("a schedule with %s: %v", bad.input, err)
			}
		}
		for id, good := range map[string]func(string) error{
			"newest":  func(id string) error { return post(id, "f", 0, `{"size":"one","more":1}`) },
			"older":   func(id string) error { return post(id, "f", 1, `{"size":1}`) },
			"later":   func(id string) error { return post(id, "f", 3, `{}`) },
			"unknown": func(id string) error { return post(id, "g", 0, `{"size":[]}`) },
		} {
			if err := good(id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
