package sfn_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// BenchmarkPages reads pages of 100 results over HTTP: of the executions of a machine, and the last page of a history
// of 25,000 events. EBB_EXECUTIONS sets how many executions there are.
func BenchmarkPages(b *testing.B) {
	count := 2000
	if set := os.Getenv("EBB_EXECUTIONS"); set != "" {
		var err error
		if count, err = strconv.Atoi(set); err != nil {
			b.Fatal(err)
		}
	}
	store, err := sqlstore.Open(b.Context(), filepath.Join(b.TempDir(), "ebb.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	s := serveOn(b, store, nil)
	machine := s.create("Pass", passing)
	var starting sync.WaitGroup
	const clients = 64
	for client := range clients {
		starting.Go(func() {
			for i := client; i < count; i += clients {
				_, err := s.try(b.Context(), "StartExecution", object{"stateMachineArn": machine, "name": strconv.Itoa(i), "input": `{}`})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	starting.Wait()
	loop := s.start(s.create("Loop", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "C"}], "Default": "A"}, "C": {"Type": "Succeed"}}}`), "l", `{}`)
	if x := s.execution(loop); x["status"] != "FAILED" {
		b.Fatalf("%v", x)
	}
	b.Run("ListExecutions/"+strconv.Itoa(count), func(b *testing.B) {
		for b.Loop() {
			s.call("ListExecutions", object{"stateMachineArn": machine, "maxResults": 100})
		}
	})
	b.Run("ListExecutions/failed", func(b *testing.B) {
		for b.Loop() {
			s.call("ListExecutions", object{"stateMachineArn": machine, "statusFilter": "FAILED", "maxResults": 100})
		}
	})
	b.Run("GetExecutionHistory/last", func(b *testing.B) {
		for b.Loop() {
			out := s.call("GetExecutionHistory", object{"executionArn": loop, "reverseOrder": true, "maxResults": 100})
			if e := out["events"].([]any); len(e) != 100 || e[0].(object)["id"] != 25_000.0 {
				b.Fatalf("%d events", len(e))
			}
		}
	})
}
