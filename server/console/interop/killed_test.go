package interop_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/states"
)

// formOnce finds the key of a command in its form.
var formOnce = regexp.MustCompile(`name="once" value="([^"]+)"`)

// TestKilledInCommand kills the server at several moments of the request of a command: before it arrives, when it was
// sent, and when the answer begins. The next server gets the same form, twice. The command has one effect, and one line
// in the audit.
//
// Guarantee (G5): A command from the console that is sent again after kills of the server counts once.
func TestKilledInCommand(t *testing.T) {
	t.Parallel()
	s := actionSite(t)
	defer func() { s.kill() }() // the last server
	count := map[string]int{}
	sent := func(c *httptrace.ClientTrace) { c.WroteRequest = func(httptrace.WroteRequestInfo) { s.kill() } }
	for i, moment := range []func(*httptrace.ClientTrace){
		func(c *httptrace.ClientTrace) { c.GotConn = func(httptrace.GotConnInfo) { s.kill() } },
		sent,
		func(c *httptrace.ClientTrace) { c.GotFirstResponseByte = s.kill },
		sent, // again, because the kill may be too late or too early
	} {
		verb, then := "suspend", states.FlowSuspended.String()
		if i%2 == 1 {
			verb, then = "resume", "Run "+timerRun+" is RUNNING"
		}
		form := s.page("command", "of", "run", "do", verb, "id", timerRun)
		text, err := fetch(t.Context(), form)
		if err != nil {
			t.Fatal(err)
		}
		once := formOnce.FindStringSubmatch(text)
		if once == nil {
			t.Fatalf("the form of %s has no key: %s", verb, text)
		}
		var trace httptrace.ClientTrace
		moment(&trace)
		_ = post(httptrace.WithClientTrace(t.Context(), &trace), form, once[1]) // the server is killed meanwhile
		s.server = serveAt(t, s.dir, strings.TrimPrefix(s.address, "http://"), "serve", "--log-level", "warn")
		for range 2 {
			if err := post(t.Context(), form, once[1]); err != nil {
				t.Fatalf("%s after the kill: %v", verb, err)
			}
		}
		s.await(t, timerRun, then)
		count[verb]++
		audit, err := fetch(t.Context(), s.page("audit"))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for row := range strings.SplitSeq(audit, "<tr") {
			if contains(row, timerRun) && contains(row, verb) {
				lines++
			}
		}
		if lines != count[verb] {
			t.Errorf("round %d: the audit has %d lines of %s, want %d", i, lines, verb, count[verb])
		}
	}
}

// post sends the form of a command that has no fields.
func post(ctx context.Context, form, once string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, form, strings.NewReader(url.Values{"once": {once}}.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
