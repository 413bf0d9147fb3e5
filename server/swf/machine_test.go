package swf_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
)

// TestExecutionPage: the page of an execution has its graph, whose nodes lead to their atoms, and a timeline in which
// the wait for a worker and its work are apart. It says which task list waits for whom, and until when.
func TestExecutionPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		id := w.start(t, "x")
		time.Sleep(time.Second)
		w.decide(t, schedule("pay"), object{
			"decisionType": "StartTimer", "startTimerDecisionAttributes": object{"timerId": "wait", "startToFireTimeout": "5000"},
		})
		time.Sleep(7 * time.Second)
		task := w.poll(t, "a")
		time.Sleep(3 * time.Second)
		w.must(t, "RespondActivityTaskCompleted", object{"taskToken": task["taskToken"], "result": "r"})
		w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": "go"})
		w.poll(t, "l")
		time.Sleep(time.Second)
		pages := console.New(w.store, console.Options{
			Machine: func(_ context.Context, run *storage.Run) (console.Machine, error) {
				m, is := swf.MachineOf(w.store, run)
				if !is {
					return nil, storage.ErrNotFound
				}
				return m, nil
			},
		})
		page := func(view, atom string) string {
			q := url.Values{"id": {id}, "view": {view}, "atom": {atom}}
			out := httptest.NewRecorder()
			pages.ServeHTTP(out,
				httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/run?"+q.Encode(), http.NoBody))
			if out.Code != http.StatusOK {
				t.Fatal(out.Code, out.Body)
			}
			return out.Body.String()
		}
		graph := page("graph", "pay#5")
		for _, want := range []string{
			`href="run?atom=pay%235&amp;id=` + id + `&amp;view=graph"><g class="node s-success selected"`,
			`href="run?atom=decision%232&amp;id=`, `href="run?atom=wait%236&amp;id=`, ">signal go<", "atom=decision%239",
		} {
			if !strings.Contains(graph, want) {
				t.Errorf("the graph has no %s:\n%s", want, graph)
			}
		}
		if strings.Contains(graph, "atom=signal") {
			t.Error("a signal leads to an atom")
		}
		timeline := page("timeline", "")
		parts := regexp.MustCompile(`<td[^>]*>pay#5</td><td[^>]*>([^<]*)</td>`).FindAllStringSubmatch(timeline, -1)
		if len(parts) != 2 || parts[0][1] != "waits for a worker: 7.0 s" || parts[1][1] != "attempt 1 SUCCESS 3.0 s" {
			t.Errorf("the timeline has %q:\n%s", parts, timeline)
		}
		for _, want := range []string{
			"wait#6 waits until 2000-01-01 01:23:21", "swf/decision/d/l&#34; since 2000-01-01 00:00:11",
			"until 2000-01-01 00:01:11 (59 s left), which is how long it may take",
		} {
			if !strings.Contains(timeline, want) {
				t.Errorf("it does not say %q:\n%s", want, timeline)
			}
		}
	})
}
