package swf_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
)

// TestThrottle gives each domain its requests of a second, and no more, also when very many other names of domains
// were asked for. Without the quota nothing is throttled.
func TestThrottle(t *testing.T) {
	t.Parallel()
	list := func(domain string) object { return object{"domain": domain, "registrationStatus": "REGISTERED"} }
	register := func(t *testing.T, w *world) {
		t.Helper()
		for _, name := range []string{"d", "e"} {
			w.must(t, "RegisterDomain", object{"name": name, "workflowExecutionRetentionPeriodInDays": "1"})
		}
		time.Sleep(time.Second)
	}
	t.Run("limited", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, swf.Config{Quotas: map[aws.Quota]int64{swf.QuotaRequests: 3}})
			register(t, w)
			spend := func(domain string, n int) {
				t.Helper()
				for range n {
					w.must(t, "ListWorkflowTypes", list(domain))
				}
				w.refuses(t, "ListWorkflowTypes", list(domain), "ThrottlingException", "Rate exceeded")
			}
			spend("d", 3)
			for i := range 2000 {
				w.refuses(t, "ListWorkflowTypes", list(fmt.Sprint("unknown", i)), "UnknownResourceFault", "")
			}
			spend("d", 0)
			spend("e", 3)
			time.Sleep(340 * time.Millisecond)
			spend("d", 1)
			time.Sleep(time.Hour)
			spend("d", 3)
		})
	})
	t.Run("default", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, swf.Config{})
			register(t, w)
			for range 1000 {
				w.must(t, "ListWorkflowTypes", list("d"))
			}
		})
	})
}
