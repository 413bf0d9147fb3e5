package console_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestListsHavePages reads many schedules and definitions, page by page, in the console and the API.
//
// Attack (HTTP server): Thousands of schedules and definitions.
// Result: Each list has pages.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	const all = 450
	for i := range all {
		id := fmt.Sprintf("name%03d", i)
		s := backend.Schedule{ID: id, Flow: "f", Spec: "@daily", Next: time.Now()}
		if err := store.PutSchedule(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := store.PutDefinition(t.Context(), storage.Definition{Hash: id, Name: id, Language: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	pages, commands := console.New(store, console.Options{}), api.New(store, api.Options{})
	name, next := regexp.MustCompile(`<td[^>]*>(?:<a[^>]*>)?(name\d+)<`), regexp.MustCompile(`rel="next" href="([^"]*)"`)
	for _, list := range []string{"schedules", "definitions"} {
		seen, count := map[string]bool{}, 0
		for page := list; page != ""; count++ {
			body := get(t, pages, http.MethodGet, "/"+page).Body.String()
			for _, found := range name.FindAllStringSubmatch(body, -1) {
				seen[found[1]] = true
			}
			page = ""
			if found := next.FindStringSubmatch(body); found != nil {
				page = html.UnescapeString(found[1])
			}
		}
		if len(seen) != all || count != 3 {
			t.Errorf("the console has %d %s in %d pages", len(seen), list, count)
		}
		seen, count = map[string]bool{}, 0
		for after, more := "", true; more; more = after != "" {
			var answer map[string]json.RawMessage
			var rows []map[string]any
			body := get(t, commands, http.MethodGet, "/api/v1/"+list+"?limit=200&after="+after).Body.Bytes()
			if err := json.Unmarshal(body, &answer); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(answer[list], &rows); err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				seen[fmt.Sprint(row[strings.TrimSuffix(list, "s")])] = true
			}
			after = strings.Trim(string(answer["next"]), `"`)
			count++
		}
		if len(seen) != all || count != 3 {
			t.Errorf("the API has %d %s in %d pages", len(seen), list, count)
		}
	}
}

// TestListsGoOn deletes what a page ended with before the next page is asked for: that page begins where it was.
func TestListsGoOn(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	const all = 7
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range all {
		id := fmt.Sprint("name", i)
		must(nil, store.PutSchedule(t.Context(), backend.Schedule{ID: id, Flow: "f", Spec: "@daily", Next: time.Now()}))
		must(nil, store.PostJob(t.Context(), storage.Job{ID: id, Flow: "f", Priority: i / 2, State: states.JobParked}))
		must(nil, store.Create(t.Context(), storage.Run{ID: id, Flow: "f", Structure: "x"}))
		claim, snap, err := store.Begin(t.Context(), id)
		must(nil, err)
		must(nil, store.Commit(t.Context(), claim, &backend.Checkpoint{Head: backend.Head{
			Seq: snap.Run.Seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Time: time.Now(), Release: true,
		}}))
	}
	commands := api.New(store, api.Options{})
	for _, list := range []struct {
		path, rows, id, next string
		drop                 func(id string)
	}{
		{"schedules?after=", "schedules", "schedule", "next", func(id string) { must(nil, store.DeleteSchedule(t.Context(), id)) }},
		{"jobs?after=", "jobs", "job", "next", func(id string) {
			must(nil, store.EndJob(t.Context(), backend.JobEnd{Job: id, State: states.JobComplete}))
			must(store.PurgeJobs(t.Context(), backend.JobPurge{Before: time.Now().Add(time.Hour)}))
		}},
		{"jobs?state=PARKED&after=", "jobs", "job", "next", func(id string) {
			must(nil, store.EndJob(t.Context(), backend.JobEnd{Job: id, State: states.JobComplete}))
			must(store.PurgeJobs(t.Context(), backend.JobPurge{Before: time.Now().Add(time.Hour)}))
		}},
		{"runs?cursor=", "runs", "run", "next", func(id string) { must(store.Purge(t.Context(), id)) }},
	} {
		if list.path == "jobs?state=PARKED&after=" {
			for i := range all {
				job := storage.Job{ID: fmt.Sprint("name", i), Flow: "f", Priority: i / 2, State: states.JobParked}
				if err := store.PostJob(t.Context(), job); !errors.Is(err, storage.ErrExists) { // the last page was not purged
					must(nil, err)
				}
			}
		}
		var seen []string
		for after, more := "", true; more; more = after != "" && len(seen) <= all {
			var answer map[string]json.RawMessage
			var rows []map[string]any
			must(nil, json.Unmarshal(get(t, commands, http.MethodGet, "/api/v1/"+list.path+after+"&limit=2").Body.Bytes(), &answer))
			must(nil, json.Unmarshal(answer[list.rows], &rows))
			for _, row := range rows {
				seen = append(seen, fmt.Sprint(row[list.id]))
			}
			if after = strings.Trim(string(answer[list.next]), `"`); after != "" {
				list.drop(seen[len(seen)-1])
			}
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(seen))); len(seen) != all || len(sorted) != all {
			t.Errorf("%s%s has %v", list.path, "…", seen)
		}
	}
}
