package storagetest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testJobsOfDefinitions claims jobs by the languages of stored definitions, in each of the
// ways in which a store claims.
//
// Guarantee (Jobs): A conductor claims only jobs of its flows, and of flows with a definition in its languages.
// Also: `conductor: TestDefinitions`.
func testJobsOfDefinitions(t *testing.T, m Maker) {
	s := m.open(t)
	for i, def := range []storage.Definition{
		{Name: "trip", Language: "asl"},
		{Name: "trip", Language: "asl"},
		{Name: "tour", Language: "asl/spec2016"},
		{Name: "walk", Language: "sm4c"},
		{Name: "both", Language: "klingon"},
		{Name: "both", Language: "asl"},
		{Name: "odd", Language: "aslant"},
		{Name: "odd", Language: "sm4c/asl"},
		{Name: "none", Language: ""},
	} {
		def.Hash = strconv.Itoa(i)
		must(t, "PutDefinition", errOf(s.PutDefinition(t.Context(), def)))
	}
	board := []string{"trip", "tour", "walk", "both", "odd", "none", "program", "other", ""}
	for i, flow := range board {
		post(t, s, storage.Job{ID: flow + "!", Flow: flow, Created: at(i)})
	}
	asked := []struct {
		flows, languages []string
		want             string
	}{
		{nil, nil, "trip!tour!walk!both!odd!none!program!other!!"},
		{nil, []string{"asl"}, "trip!tour!both!"},
		{[]string{"program", "trip"}, []string{"sm4c"}, "trip!walk!odd!program!"},
		{[]string{"program"}, nil, "program!"},
		{nil, []string{"klingon", "spec2016"}, "both!"},
		{nil, []string{"asl/spec2016", "romulan"}, ""},
	}
	claimed := func(what string, q backend.JobClaim) {
		t.Helper()
		q.Lease, q.Limit = time.Hour, len(board)
		for _, a := range asked {
			q.Flows, q.Languages = a.flows, a.languages
			list := claim(t, s, q)
			if got := joined(list, jobID); got != a.want {
				t.Errorf("%s: %q of %q: claimed %q, want %q", what, a.languages, a.flows, got, a.want)
			}
			for _, j := range list {
				must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{
					Job: j.ID, Epoch: j.Epoch, ClaimID: j.ClaimID, State: states.JobUnclaimed,
				}))
			}
		}
	}
	claimed("plain", backend.JobClaim{})
	claimed("with offers", backend.JobClaim{Labels: map[string]string{"gpu": "yes"}})
	setLimits(t, s, storage.Limit{Flow: "full", Rate: 1, Per: time.Hour})
	post(t, s, storage.Job{ID: "full", Flow: "full", Created: at(0), Priority: 9})
	post(t, s, storage.Job{ID: "more", Flow: "full", Created: at(0), Priority: -9})
	list := claim(t, s, backend.JobClaim{Flows: []string{"full"}, Lease: time.Hour, Limit: 9})
	if got := joined(list, jobID); got != "full" {
		t.Errorf("claimed %q under a rate of 1", got)
	}
	claimed("with a rate that is used up", backend.JobClaim{})
}

func testJobOrder(t *testing.T, m Maker) {
	s := m.open(t)
	for i, j := range []storage.Job{
		{ID: "a", Flow: "trip"},
		{ID: "b", Flow: "trip", Priority: 5},
		{ID: "c", Flow: "tour"},
		{ID: "d", Flow: "trip", Labels: map[string]string{"gpu": "yes"}},
		{ID: "e", Flow: "trip", Priority: 5},
		{ID: "f", Flow: "trip", Priority: -5, State: states.JobScheduled, NotUntil: at(0)},
		{ID: "g", Flow: "trip", State: states.JobParked},
	} {
		j.Created = at(i)
		post(t, s, j)
	}
	list := func(q storage.JobQuery) string {
		t.Helper()
		return joined(ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), q)), jobID)
	}
	if got := list(storage.JobQuery{}); got != "abcdefg" {
		t.Errorf("all: %q", got)
	}
	board := []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}
	if got := list(storage.JobQuery{States: board}); got != "beacdgf" {
		t.Errorf("the board: %q", got)
	}
	if got := list(storage.JobQuery{
		States: []states.Job{states.JobUnclaimed, states.JobScheduled},
		Limit:  5,
	}); got != "beacd" {
		t.Errorf("five that are not claimed: %q", got)
	}
	counts := func() string {
		t.Helper()
		var all []string
		for _, c := range ask[[]backend.JobCount](t, "JobCounts")(s.JobCounts(t.Context())) {
			all = append(all, fmt.Sprintf("%v %d %v", c.State, c.Jobs, c.Since.Equal(at(0))))
		}
		return strings.Join(all, ", ")
	}
	if got := counts(); got != "UNCLAIMED 5 true, SCHEDULED 1 false, PARKED 1 false" {
		t.Errorf("counted %s", got)
	}
	take := func(q backend.JobClaim) string {
		t.Helper()
		q.Lease = time.Hour
		return joined(claim(t, s, q), jobID)
	}
	for _, c := range []struct {
		q    backend.JobClaim
		want string
	}{
		{backend.JobClaim{Flows: []string{"tour"}, Limit: 9}, "c"},
		{backend.JobClaim{}, "b"},
		{backend.JobClaim{Flows: []string{"trip", "tour"}, Limit: 2}, "ea"},
		{backend.JobClaim{Labels: map[string]string{"gpu": "no"}, Limit: 9}, "f"},
		{backend.JobClaim{Labels: map[string]string{"gpu": "yes", "more": "x"}, Limit: 9}, "d"},
		{backend.JobClaim{Limit: 9}, ""},
	} {
		if got := take(c.q); got != c.want {
			t.Errorf("%+v took %q, want %q", c.q, got, c.want)
		}
	}
	must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{Job: "g", State: states.JobComplete}))
	post(t, s, storage.Job{ID: "h", Flow: "trip", State: states.JobScheduled, Created: at(7), NotUntil: at(10)})
	late := ask[[]backend.JobCount](t, "JobCounts")(s.JobCounts(t.Context()))
	if got := counts(); got != "CLAIMED 6 true, SCHEDULED 1 false" || !late[1].Since.Equal(at(10)) {
		t.Errorf("counted %s", got)
	}
}
