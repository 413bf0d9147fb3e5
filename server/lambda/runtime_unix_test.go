//go:build unix

package lambda_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/lambda"
)

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	for pause := time.Millisecond; !so(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(limit) || t.Context().Err() != nil {
			t.Fatal("waited in vain: ", what)
		}
		time.Sleep(pause)
	}
}

// pidIn returns the process that a file names.
func pidIn(file string) int {
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// lives reports whether a process exists, and does not only wait for its parent to notice its end.
func lives(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // other systems have none
	return pid != 0 && syscall.Kill(pid, 0) == nil && !bytes.Contains(stat, []byte(") Z "))
}

// TestBootstrap runs a program that speaks the Runtime API. One process answers one invocation after another.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	s := start(t, bootstrapped(t, "Pay"))
	first := describedBy(t, call(t, s, "Pay", `{"n": 1}`))
	second := describedBy(t, call(t, s, "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3APay%3Alive", `{"n": 2}`))
	if first.PID != second.PID || string(first.Payload) != `{"n":1}` || string(second.Payload) != `{"n":2}` {
		t.Errorf("got %+v, then %+v", first, second)
	}
	if second.ARN != "arn:aws:lambda:us-east-1:000000000000:function:Pay:live" {
		t.Errorf("the function was called as %s", second.ARN)
	}
	a := call(t, s, "Pay", `{"Do": "error"}`)
	want := `{"errorType":"OutOfStock","errorMessage":"no tea","stackTrace":[{"path":"main.go","line":3,"label":"main"}]}`
	if a.fails(t); a.body != want {
		t.Errorf("the error is %s; want %s", a.body, want)
	}
	if a := call(t, s, "Pay", `{"Do": "twice"}`); a.body != "[403, 400]" {
		t.Errorf("a process that violates the protocol got %s", a.body)
	}
	if third := describedBy(t, call(t, s, "Pay", "")); third.PID != first.PID || string(third.Payload) != "{}" {
		t.Errorf("got %+v after an error", third)
	}
}

// TestProcessDies reports the death of a process as the error of its invocation, as AWS does, and goes on.
func TestProcessDies(t *testing.T) {
	t.Parallel()
	broken := bootstrapped(t, "Broken")
	broken.Code = write(t, map[string]string{"bootstrap": "#!/no/such/interpreter\n"})
	absent := bootstrapped(t, "Absent")
	absent.Code = t.TempDir()
	unbegun := bootstrapped(t, "Unbegun")
	if err := os.WriteFile(filepath.Join(unbegun.Code, "version"), []byte(`init {"errorType":"Config","errorMessage":"no table"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, bootstrapped(t, "Pay"), broken, absent, unbegun)
	for _, c := range []struct{ name, do, kind, message string }{
		{"Pay", "exit", "Runtime.ExitError", "RequestId: %s Error: Runtime exited with error: exit status 7"},
		{"Pay", "leave", "Runtime.ExitError", "RequestId: %s Error: Runtime exited without providing a reason"},
		{"Pay", "kill", "Runtime.ExitError", "RequestId: %s Error: Runtime exited with error: signal: killed"},
		{"Broken", "", "Runtime.InvalidEntrypoint", "RequestId: %s Error: fork/exec " + broken.Code + "/bootstrap: no such file or directory"},
		{"Absent", "", "Runtime.InvalidEntrypoint", "RequestId: %s Error: Couldn't find valid bootstrap(s): [" + absent.Code + "/bootstrap]"},
		{"Unbegun", "", "Config", "no table"},
	} {
		a := call(t, s, c.name, `{"Do": "`+c.do+`"}`)
		want := strings.ReplaceAll(c.message, "%s", a.header.Get("X-Amzn-Requestid"))
		if f := a.fails(t); f.Type != c.kind || f.Message != want {
			t.Errorf("%s %s: got %s: %s; want %s: %s", c.name, c.do, f.Type, f.Message, c.kind, want)
		}
	}
	describedBy(t, call(t, s, "Pay", "{}"))
}

// TestTimeoutEndsProcess ends all processes of an invocation that takes too long, also those that hide.
//
// Attack (Programs): A Lambda function hangs, with processes that ignore SIGTERM, in sessions of their own.
// Result: After its timeout all are killed; the invocation fails with `Sandbox.Timedout`.
func TestTimeoutEndsProcess(t *testing.T) {
	t.Parallel()
	f := bootstrapped(t, "Slow")
	f.Timeout = time.Second
	s := start(t, f)
	pid := describedBy(t, call(t, s, "Slow", "{}")).PID
	a := call(t, s, "Slow", `{"Do": "hang"}`)
	want := fmt.Sprintf(`{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: %s Error: Task timed out after 1.00 seconds"}`,
		a.header.Get("X-Amzn-Requestid"))
	if a.fails(t); a.body != want {
		t.Errorf("got %s; want %s", a.body, want)
	}
	waitFor(t, "the processes are gone", func() bool {
		return !lives(pid) && !lives(pidIn(filepath.Join(f.Environment[bootstrapFolder], "hung")))
	})
	if next := describedBy(t, call(t, s, "Slow", "{}")); next.PID == pid {
		t.Error("the process was used again")
	}
}

// TestFloodsAreBounded runs functions that print and return too much.
//
// Attack (Programs): A Lambda function prints 20 MB, or returns more than 6 MiB.
// Result: 1 MiB is shown; `Function.ResponseSizeTooLarge`. The process answers the next invocation.
func TestFloodsAreBounded(t *testing.T) {
	t.Parallel()
	var printed counted
	s, err := lambda.New(lambda.Config{Functions: []lambda.Function{bootstrapped(t, "Flood")}, Output: &printed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	a := call(t, s, "Flood", `{"Do": "flood"}`)
	if a.body != `"flooded"` || len(a.log(t)) != 4<<10 || printed.size > 2<<20 || printed.size < 1<<20 {
		t.Errorf("got %s, a tail of %d bytes, and %d bytes of output", a.body, len(a.log(t)), printed.size)
	}
	a = call(t, s, "Flood", `{"Do": "large"}`)
	want := `{"errorType":"Function.ResponseSizeTooLarge",` +
		`"errorMessage":"Response payload size exceeded maximum allowed payload size (6291556 bytes)."}`
	if a.fails(t); a.body != want {
		t.Errorf("got %s; want %s", a.body, want)
	}
	if a := call(t, s, "Flood", `"`+strings.Repeat("x", lambda.MaxPayload)+`"`); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large payload got %d", a.status)
	}
	describedBy(t, call(t, s, "Flood", "{}"))
}

type counted struct {
	mu   sync.Mutex
	size int
}

func (c *counted) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += len(p)
	return len(p), nil
}

// TestInvocationsAreConcurrent starts a process for each concurrent invocation, up to the limit, and keeps them.
func TestInvocationsAreConcurrent(t *testing.T) {
	t.Parallel()
	const processes = 16 // the limit
	s := start(t, bootstrapped(t, "Wait"))
	pids := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 2 * processes {
		all.Go(func() {
			a := call(t, s, "Wait", fmt.Sprintf(`{"Do": "wait", "Files": %d}`, processes))
			mu.Lock()
			defer mu.Unlock()
			pids[a.body] = true
		})
	}
	all.Wait()
	if len(pids) != processes {
		t.Errorf("%d processes answered; want %d", len(pids), processes)
	}
}

// TestCodeIsReloaded answers with the code of files that changed.
func TestCodeIsReloaded(t *testing.T) {
	t.Parallel()
	f := bootstrapped(t, "Pay")
	s := start(t, f)
	before := describedBy(t, call(t, s, "Pay", "{}"))
	if err := os.WriteFile(filepath.Join(f.Code, "version"), []byte("the second"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the new code answers", func() bool { return describedBy(t, call(t, s, "Pay", "{}")).Version == "the second" })
	waitFor(t, "the old process is gone", func() bool { return !lives(before.PID) })
	f.Environment = map[string]string{bootstrapFolder: f.Environment[bootstrapFolder], "TABLE": "orders"}
	now := describedBy(t, call(t, s, "Pay", "{}"))
	if err := s.Set([]lambda.Function{f}); err != nil {
		t.Fatal(err)
	}
	if changed := describedBy(t, call(t, s, "Pay", "{}")); changed.PID == now.PID {
		t.Error("a function with another environment has the same process")
	}
}

// TestMemoryIsBounded ends a process that uses more memory than its function has.
//
// Attack (Programs): A Lambda function of 512 MB fills 900 MB.
// Result: On Linux, its processes are killed; `Runtime.ExitError`.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("the memory of processes is not known here")
	}
	s := start(t, bootstrapped(t, "Big"))
	a := call(t, s, "Big", `{"Do": "allocate"}`)
	if f := a.fails(t); f.Type != "Runtime.ExitError" || !strings.HasSuffix(f.Message, "signal: killed") ||
		!strings.Contains(a.log(t), "used more than 512 MB of memory") {
		t.Errorf("got %+v and %s", f, a.log(t))
	}
}

// TestRuntimeAPIRefusesPages shows that pages in browsers cannot take invocations of a function, under any name.
//
// Attack (HTTP server): A page in a browser asks the Runtime API of a Lambda function for an invocation.
// Result: 403, for a foreign `Host`, an `Origin` and a `Sec-Fetch-Site`.
func TestRuntimeAPIRefusesPages(t *testing.T) {
	t.Parallel()
	s := start(t, bootstrapped(t, "Pay"))
	api := describedBy(t, call(t, s, "Pay", "{}")).API
	for _, c := range []struct{ host, header, value string }{
		{"attacker.example:" + strings.Split(api, ":")[1], "", ""},
		{api, "Origin", "http://attacker.example"},
		{api, "Sec-Fetch-Site", "cross-site"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+api+"/2018-06-01/runtime/invocation/next", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		if c.header != "" {
			req.Header.Set(c.header, c.value)
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%+v got %d", c, resp.StatusCode)
		}
	}
}

// TestVirtualTimeStandsStill calls a function in virtual time, which does not pass while the function runs.
func TestVirtualTimeStandsStill(t *testing.T) {
	t.Parallel()
	s := start(t, bootstrapped(t, "Pay"))
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://lambda/2015-03-31/functions/Pay/invocations", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: s}).Do(req)
		if err != nil || resp.StatusCode != http.StatusOK || time.Since(begin) != 0 {
			t.Errorf("got %v, %v after %v", resp, err, time.Since(begin))
		}
		_ = resp.Body.Close()
	})
}
