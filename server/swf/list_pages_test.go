package swf_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
)

// TestListsHavePages reads lists of 450 types and executions, and of 100 domains, which is their quota, in pages of
// several sizes. Their descriptions are the largest that there are.
//
// Attack (AWS clients): Lists of hundreds of domains, types and executions.
// Result: Each list has pages, by number and by bytes.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	const all, domains = 450, 100
	large := strings.Repeat("\u8a9e", 1024)
	for i := range all {
		if i < domains-1 {
			w.must(t, "RegisterDomain", object{
				"name": fmt.Sprint("domain", i), "workflowExecutionRetentionPeriodInDays": "1", "description": large,
			})
		}
		typed := object{"domain": "d", "name": fmt.Sprint("type", i), "version": "1", "description": large}
		w.must(t, "RegisterWorkflowType", typed)
		w.must(t, "RegisterActivityType", typed)
		w.start(t, fmt.Sprint("x", i), "tagList", []string{strings.Repeat("t", 256)})
	}
	since := object{"oldestDate": 0}
	for operation, list := range map[string]struct {
		params object
		n      int
	}{
		"ListDomains":                {object{"registrationStatus": "REGISTERED"}, domains},
		"ListWorkflowTypes":          {object{"domain": "d", "registrationStatus": "REGISTERED"}, all + 1},
		"ListActivityTypes":          {object{"domain": "d", "registrationStatus": "REGISTERED"}, all + 1},
		"ListOpenWorkflowExecutions": {object{"domain": "d", "startTimeFilter": since}, all},
	} {
		for _, size := range []int{0, 40, 200, 1000} {
			seen := map[string]bool{}
			params := object{"maximumPageSize": size}
			maps.Copy(params, list.params)
			_, pages := w.names(t, operation, params, func(info object) string {
				text, err := json.Marshal(info)
				if err != nil {
					t.Fatal(err)
				}
				seen[string(text)] = true
				return ""
			})
			most := size
			if size == 0 {
				most = 1000
			}
			if want := (list.n + most - 1) / most; len(seen) != list.n || pages < want {
				t.Errorf("%s in pages of %d: %d in %d pages; want %d in %d", operation, size, len(seen), pages, list.n, want)
			}
		}
	}
	page, err := json.Marshal(w.must(t, "ListActivityTypes", object{"domain": "d", "registrationStatus": "REGISTERED"}))
	if err != nil || len(page) > storage.PageBytes+8<<10 {
		t.Errorf("a page has %d bytes, %v", len(page), err)
	}
}
