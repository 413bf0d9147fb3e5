package sfn_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestRedriveOnce redrives one execution by two servers of one database, many times at once. Each request that is
// answered with success has redriven the execution, also if it fails again at once.
//
// Attack (AWS clients): 8 requests to redrive one failed execution at once.
// Result: As many succeed as redrives happen, one if the execution goes on; the others get `ExecutionNotRedrivable`.
func TestRedriveOnce(t *testing.T) {
	t.Parallel()
	file := "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")
	var servers [2]*served
	for i := range servers {
		store, err := sqlstore.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		servers[i] = serveOn(t, store, nil)
	}
	s := servers[0]
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	works := s.create("Works", `{"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}`)
	stopped := s.start(works, "x", `{}`)
	s.call("StopExecution", object{"executionArn": stopped})
	failed := s.start(s.create("Fails", `{"StartAt": "Bad", "States": {"Bad": {"Type": "Fail"}}}`), "x", `{}`)
	for _, arn := range []string{stopped, failed, failed} {
		before := s.execution(arn)["redriveCount"].(float64)
		var done atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				_, err := servers[i%2].try(t.Context(), "RedriveExecution", object{"executionArn": arn})
				if refused, is := errors.AsType[*apiError](err); err == nil {
					done.Add(1)
				} else if !is || !strings.HasSuffix(refused.Code, "#ExecutionNotRedrivable") {
					t.Error(err)
				}
			})
		}
		all.Wait()
		n := s.call("DescribeExecution", object{"executionArn": arn})["redriveCount"].(float64) - before
		if n < 1 || arn == stopped && n != 1 || float64(done.Load()) != n {
			t.Errorf("%s: %d requests succeeded, and %v redrives happened", arn, done.Load(), n)
		}
	}
}
