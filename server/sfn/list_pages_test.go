package sfn_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestListsHavePages reads lists of 250 large things (of aliases 100, which is their quota) in pages of several sizes.
//
// Attack (AWS clients): Lists of hundreds of machines, versions, aliases, activities and executions.
// Result: Each list has pages, by number and by bytes.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	var tags []object
	for i := range 50 {
		tags = append(tags, object{"key": fmt.Sprint(i, strings.Repeat("k", 100)), "value": strings.Repeat("v", 256)})
	}
	const all, aliases = 250, 100
	machine := s.create("Versions", passing)
	for i := range all {
		name := fmt.Sprintf("%s%03d", strings.Repeat("n", 70), i)
		s.call("CreateStateMachine", object{"name": name, "definition": passing, "roleArn": role, "tags": tags})
		s.call("CreateActivity", object{"name": name, "tags": tags})
		changed := strings.Replace(passing, "{", fmt.Sprintf(`{"Comment": "%d", `, i), 1)
		s.call("UpdateStateMachine", object{"stateMachineArn": machine, "definition": changed, "publish": true})
		if i < aliases {
			s.call("CreateStateMachineAlias", object{
				"name": name, "routingConfiguration": []object{{"stateMachineVersionArn": fmt.Sprint(machine, ":", i+1), "weight": 100}},
			})
		}
		s.start(machine, name, `{}`)
	}
	for _, list := range []struct {
		operation, member, arn string
		of, n                  any
	}{
		{"ListStateMachines", "stateMachines", "stateMachineArn", nil, all + 1},
		{"ListActivities", "activities", "activityArn", nil, all},
		{"ListStateMachineVersions", "stateMachineVersions", "stateMachineVersionArn", machine, all},
		{"ListStateMachineAliases", "stateMachineAliases", "stateMachineAliasArn", machine, aliases},
		{"ListExecutions", "executions", "executionArn", machine, all},
	} {
		for _, size := range []int{0, 1, 200, 1000} {
			if size == 1 && list.n == all {
				continue
			}
			params, seen, pages := object{"maxResults": size}, map[string]bool{}, 0
			if list.of != nil {
				params["stateMachineArn"] = list.of
			}
			for more := true; more; pages++ {
				out := s.call(list.operation, params)
				text, err := json.Marshal(out)
				if err != nil || len(text) > storage.PageBytes {
					t.Errorf("%s: a page has %d bytes, %v", list.operation, len(text), err)
				}
				for _, one := range out[list.member].([]any) {
					seen[one.(object)[list.arn].(string)] = true
				}
				params["nextToken"], more = out["nextToken"], out["nextToken"] != nil
			}
			most := max(size, 1)
			if size == 0 {
				most = 100
			}
			if want := (list.n.(int) + most - 1) / most; len(seen) != list.n || pages != want {
				t.Errorf("%s in pages of %d: %d in %d pages; want %v in %d", list.operation, size, len(seen), pages, list.n, want)
			}
		}
	}
}
