package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/console"
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
		s := storage.Schedule{ID: id, Flow: "f", Spec: "@daily", Next: time.Now()}
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
