package sfn_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// pages reads a list page by page.
func (s *served) pages(operation, member string, params object) (all []object, pages int) {
	s.tb.Helper()
	for {
		out := s.call(operation, params)
		for _, one := range out[member].([]any) {
			all = append(all, one.(object))
		}
		pages++
		if out["nextToken"] == nil {
			return all, pages
		}
		params["nextToken"] = out["nextToken"]
	}
}

// TestHistoryPages reads a history in pages, in both directions.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine := s.create("Map", `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemProcessor": {"StartAt": "Do", "States": {
		"Do": {"Type": "Pass", "End": true}}}, "End": true}}}`)
	arn := s.start(machine, "m", `[1, 2, 3, 4, 5, 6, 7]`)
	s.execution(arn)
	whole, _ := s.pages("GetExecutionHistory", "events", object{"executionArn": arn})
	if len(whole) != 3+7*4+3 {
		t.Errorf("%d events", len(whole))
	}
	for i, e := range whole {
		if e["id"] != float64(i+1) {
			t.Fatalf("event %d is %v", i+1, e)
		}
	}
	for _, reverse := range []bool{false, true} {
		for _, size := range []int{1, 5, 17, 34, 35} {
			got, pages := s.pages("GetExecutionHistory", "events", object{"executionArn": arn, "maxResults": size, "reverseOrder": reverse})
			if reverse {
				slices.Reverse(got)
			}
			if fmt.Sprint(got) != fmt.Sprint(whole) || pages != (len(whole)+size-1)/size {
				t.Errorf("pages of %d, reverse %t: %d events in %d pages", size, reverse, len(got), pages)
			}
		}
	}
	token := s.call("GetExecutionHistory", object{"executionArn": arn, "maxResults": 3})["nextToken"]
	for _, other := range []object{
		{"reverseOrder": true}, {"includeExecutionData": false}, {"executionArn": s.start(machine, "n", `[]`)}, {"nextToken": "x"},
	} {
		params := object{"executionArn": arn, "maxResults": 3, "nextToken": token}
		maps.Copy(params, other)
		s.refused("GetExecutionHistory", params, "InvalidToken", "Invalid Token: 'Invalid token'")
	}
}

// TestListPages lists executions of a machine, of its versions and of its aliases, in pages.
func TestListPages(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine := s.create("Trip", passing)
	version := s.call("PublishStateMachineVersion", object{"stateMachineArn": machine})["stateMachineVersionArn"].(string)
	alias := s.call("CreateStateMachineAlias", object{
		"name": "LIVE", "routingConfiguration": []object{{"stateMachineVersionArn": version, "weight": 100}},
	})["stateMachineAliasArn"].(string)
	of := map[string][]string{}
	for i := range 9 {
		for _, started := range []string{machine, version, alias} {
			arn := s.start(started, strconv.Itoa(i)+started[len(started)-1:], `{}`)
			x := s.execution(arn)
			if x["stateMachineArn"] != machine {
				t.Errorf("%v", x)
			}
			of[machine] = append(of[machine], arn)
			if started != machine {
				of[version] = append(of[version], arn)
				if x["stateMachineVersionArn"] != version {
					t.Errorf("%v", x)
				}
			}
			if started == alias {
				of[alias] = append(of[alias], arn)
				if x["stateMachineAliasArn"] != alias {
					t.Errorf("%v", x)
				}
				started := s.call("GetExecutionHistory", object{"executionArn": arn})["events"].([]any)[0].(object)["executionStartedEventDetails"].(object)
				if started["stateMachineAliasArn"] != alias || started["stateMachineVersionArn"] != version {
					t.Errorf("%v", started)
				}
			}
		}
	}
	for arn, want := range of {
		slices.Reverse(want)
		for _, size := range []int{0, 1, 4, 9, 1000} {
			list, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": arn, "maxResults": size})
			var got []string
			for _, x := range list {
				got = append(got, x["executionArn"].(string))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %v; want %v", arn, size, got, want)
			}
		}
		for status, n := range map[string]int{"SUCCEEDED": len(want), "RUNNING": 0, "FAILED": 0, "PENDING_REDRIVE": 0} {
			if list, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": arn, "statusFilter": status}); len(list) != n {
				t.Errorf("%s: %d executions are %s; want %d", arn, len(list), status, n)
			}
		}
	}
}

// TestLargeHistoryPages reads a history of large events: a page has some megabytes and goes on where the last one ended,
// in both directions.
//
// Attack (AWS clients): A page of 1,000 events with inputs of 256 KiB.
// Result: A page ends after 4 MiB, with a token for the next.
func TestLargeHistoryPages(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	states := `"S0": {"Type": "Succeed"}`
	for i := range 12 {
		states = fmt.Sprintf(`"S%d": {"Type": "Pass", "Next": "S%d"}, %s`, i+1, i, states)
	}
	arn := s.start(s.create("Large", `{"StartAt": "S12", "States": {`+states+`}}`), "l", `"`+strings.Repeat(`\"`, 100_000)+`"`)
	s.execution(arn)
	for _, reverse := range []bool{false, true} {
		params := object{"executionArn": arn, "maxResults": 1000, "reverseOrder": reverse}
		var ids []any
		for pages := 1; ; pages++ {
			out := s.call("GetExecutionHistory", params)
			text, err := json.Marshal(out)
			if err != nil || len(text) > storage.PageBytes+512<<10 {
				t.Errorf("a page has %d bytes, %v", len(text), err)
			}
			for _, e := range out["events"].([]any) {
				ids = append(ids, e.(object)["id"])
			}
			if params["nextToken"] = out["nextToken"]; out["nextToken"] == nil {
				if pages < 3 {
					t.Errorf("%d pages", pages)
				}
				break
			}
		}
		if reverse {
			slices.Reverse(ids)
		}
		for i, id := range ids {
			if id != float64(i+1) {
				t.Fatalf("reverse %t: the events are %v", reverse, ids)
			}
		}
		if len(ids) != 2+2*13 {
			t.Errorf("%d events", len(ids))
		}
	}
}
