package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// echo answers with the request. Some requests take time.
func echo(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/long":
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		return
	case "/poll":
		time.Sleep(50 * time.Second)
	case "/hangs":
		<-r.Context().Done()
	case "/panics":
		panic("oh")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case errors.Is(err, context.DeadlineExceeded):
		w.WriteHeader(http.StatusServiceUnavailable)
	case err != nil:
		w.WriteHeader(http.StatusRequestTimeout)
	}
	_, _ = fmt.Fprint(w, r.URL.Path, len(text), err, r.Context().Err())
}

// TestTimesOfRequests: each part of a request has its time, and an answer that is not read
// in time is cut off, also one that took long to come.
//
// Attack (HTTP server): Slow heads or bodies, idle connections, unread answers, endless chunked bodies.
// Result: Bounded time for each part.
func TestTimesOfRequests(t *testing.T) {
	t.Parallel()
	serveLocal(t, 20, echo, func(dial func(from ...string) *visit) {
		if took := dial().send("GET /livez HTTP/1.1\r\nHost: loc").after(); took != headTime {
			t.Errorf("an incomplete head is cut off after %v", took)
		}
		silent := dial()
		if took := silent.after(); took != headTime {
			t.Errorf("a silent connection is cut off after %v", took)
		}
		kept := dial().send(get, "a")
		kept.wants(200, "/a")
		if took := kept.after(); took != idleTime {
			t.Errorf("an idle connection is cut off after %v", took)
		}
		for _, size := range []int{100, smallBody + 1} {
			slow, began := dial().send("%s%s", post(size, ""), "abc"), time.Now()
			slow.wants(http.StatusRequestTimeout, "timeout")
			if took := time.Since(began); took != bodyTime {
				t.Errorf("a slow body of %d bytes is cut off after %v", size, took)
			}
		}
		unread := dial().send(get, "long")
		time.Sleep(answerTime + time.Second)
		if status, _ := unread.answered(); status != 0 {
			t.Error("an answer is sent for longer than its time")
		}
		poll := dial().send(get, "poll")
		time.Sleep(60 * time.Second) // of which 50 are the server's
		poll.wants(200, "/poll")
		for range 2 {
			poll.send("%s%s", post(3, "Expect: 100-continue\r\n"), "abc").wants(200, "/post3")
			poll.send("POST /poll HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc").wants(200, "/poll3")
		}
		began := time.Now()
		dial().send(get, "hangs").wants(200, "deadline exceeded")
		if took := time.Since(began); took != workTime {
			t.Errorf("a request is at work for %v", took)
		}
		dial().send(get, "panics").wants(http.StatusInternalServerError, "the log of the server contains the reason")
	})
}

// TestConnectionsBounded: when there are too many connections, the one is cut off for whose
// client the server has waited longest, and none that waits for the server.
//
// Attack (HTTP server): Connections open faster than the server reads.
// Result: Bounded: the server reads each before it cuts one off.
func TestConnectionsBounded(t *testing.T) {
	t.Parallel()
	const most = 10
	serveLocal(t, most, echo, func(dial func(from ...string) *visit) {
		var polls, others []*visit
		pause := func() { time.Sleep(time.Millisecond); synctest.Wait() }
		for range most - most/workShare {
			polls = append(polls, dial().send(get, "poll"))
			pause()
		}
		dial().send(get, "busy").wants(http.StatusServiceUnavailable, "too many requests are at work")
		for i := range 5 { // in the two places that are left
			others = append(others, dial().send(get, "livez"))
			others[i].wants(200, "/livez")
			pause()
		}
		for i, v := range others {
			if status, _ := v.send(get, "livez").answered(); (status == 200) != (i >= 3) {
				t.Errorf("connection %d was answered %d", i, status)
			}
		}
		for _, v := range polls {
			v.wants(200, "/poll")
		}
	})
	serveLocal(t, 4*headShare, echo, func(dial func(from ...string) *visit) {
		var heads []*visit
		for range 2 * headShare {
			heads = append(heads, dial().send("GET /livez HTTP/1.1\r\n"))
			time.Sleep(time.Millisecond)
		}
		idle := dial().send(get, "livez")
		idle.wants(200, "/livez")
		for i, v := range heads {
			v.send("Host: localhost\r\n\r\n")
			if status, _ := v.answered(); (status == 200) != (i > headShare) { // the idle one had a head, too
				t.Errorf("the incomplete head %d was answered %d", i, status)
			}
		}
		idle.send(get, "livez").wants(200, "/livez")
	})
}

// TestBodiesBounded: the server reads bodies while their memory suffices. Bodies that do not
// arrive give their memory to others. Small bodies need none.
//
// Attack (HTTP server): Large bodies or long polls side by side.
// Result: Bounded memory: slow ones are cut off to admit others. 1,500 polls keep no other client waiting.
// Also: `TestManyPollers`.
func TestBodiesBounded(t *testing.T) {
	t.Parallel()
	const size, fit = 1 << 20, maxBodies / (1 << 20)
	serveLocal(t, 100, echo, func(dial func(from ...string) *visit) {
		var slow []*visit
		for range fit {
			slow = append(slow, dial().send("%s", post(size, "")))
			time.Sleep(time.Millisecond)
		}
		for i := range 3 {
			began := time.Now()
			dial().send("%s%s", post(smallBody, ""), strings.Repeat("x", smallBody)).wants(200, fmt.Sprint("/post", smallBody))
			if took := time.Since(began); took > 0 {
				t.Errorf("a small body waited for %v", took)
			}
			dial().send("%s%s", post(size, ""), strings.Repeat("x", size)).wants(200, fmt.Sprint("/post", size))
			if took := time.Since(began); i == 0 && (took < bodyGrace/2 || took > 2*bodyGrace) || i > 0 && took > 0 {
				t.Errorf("body %d waited for %v", i, took)
			}
		}
		if took := slow[0].after(); took > 0 {
			t.Errorf("the oldest slow body was cut off after %v", took)
		}
		slow[1].send("%s", strings.Repeat("x", size)).wants(200, fmt.Sprint("/post", size))
		chunked := "POST /post HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
		dial().send("%s3\r\nabc\r\n0\r\n\r\n", chunked).wants(200, "/post3")
		long := dial()
		go long.send("%s%x\r\n%s\r\n", chunked, MaxBody+1, strings.Repeat("x", MaxBody+1))
		long.wants(http.StatusRequestEntityTooLarge, "too large")
		dial().send("%s", chunked).wants(http.StatusRequestTimeout, "timeout")
		dial().send("%s", post(MaxBody+1, "Expect: 100-continue\r\n")).wants(http.StatusRequestEntityTooLarge, "at most")
	})
	serveLocal(t, 100, func(w http.ResponseWriter, r *http.Request) { // whose store does not answer
		_, err := io.ReadAll(r.Body)
		if err == nil {
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, err)
	}, func(dial func(from ...string) *visit) {
		for range fit {
			dial().send("%s%s", post(size, ""), strings.Repeat("x", size))
		}
		began := time.Now()
		dial().send("%s", post(size, "")).wants(http.StatusServiceUnavailable, "deadline exceeded")
		if took := time.Since(began); took != admissionTime {
			t.Errorf("a body for which there is no memory is refused after %v", took)
		}
	})
}

// TestAnswersBounded: the server builds answers while their memory suffices, and a client leaves half of it to others.
// Answers that are not read give their memory to others. An answer that is read costs others nothing.
//
// Attack (HTTP server): Hundreds of large answers that are not read, or read slowly.
// Result: Bounded memory: slow ones are cut off to admit others; a client with its share gets 429.
func TestAnswersBounded(t *testing.T) {
	t.Parallel()
	const fit = maxAnswers / pageSize
	reads := func(w http.ResponseWriter, r *http.Request) {
		echo(w, r)
		if r.URL.Path == "/polls" {
			end, _ := Poll(r.Context())
			defer end()
			<-r.Context().Done()
		}
		if r.URL.Path == "/found" {
			end, _ := Poll(r.Context())
			end()
			if err := Found(r.Context(), true); err != nil {
				t.Error(err)
			}
			_, _ = w.Write([]byte("found"))
			<-r.Context().Done()
		}
	}
	serveLocal(t, 100, reads, func(dial func(from ...string) *visit) {
		var unread []*visit
		for range fit / 2 {
			unread = append(unread, dial("a").send(get, "long"))
			time.Sleep(time.Millisecond)
		}
		for i := range 2 {
			began := time.Now()
			dial("b").send(get, "a").wants(200, "/a")
			if took := time.Since(began); took > 0 {
				t.Errorf("an answer for another client waited for %v", took)
			}
			dial("a").send(get, "long").wants(200, "xxx")
			if took := time.Since(began); i == 0 && (took < bodyGrace || took > 2*bodyGrace) || i > 0 && took > 0 {
				t.Errorf("answer %d waited for %v", i, took)
			}
		}
		if status, _ := unread[0].answered(); status == 200 {
			t.Error("the oldest answer that is not read was not cut off")
		}
		unread[1].wants(200, "xxx")
	})
	serveLocal(t, 100, reads, func(dial func(from ...string) *visit) {
		for range fit {
			dial("a").send(get, "polls") // builds nothing
		}
		for range fit / 2 {
			dial("a").send(get, "found")
		}
		time.Sleep(time.Millisecond)
		began := time.Now()
		refused := dial("a").send(get, "hangs")
		refused.wants(http.StatusTooManyRequests, "ask again")
		if took := time.Since(began); took != admissionTime {
			t.Errorf("the answer to a client with its share is refused after %v", took)
		}
		for range fit / 2 {
			dial("b").send(get, "hangs")
		}
		time.Sleep(time.Millisecond)
		dial("c").send(get, "hangs").wants(http.StatusServiceUnavailable, "ask again")
		dial("c").send(get, "livez").wants(200, "/livez")
		began = time.Now()
		small := "POST /post HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
		dial("a").send("%s", small).wants(200, "/post3")
		if took := time.Since(began); took != 0 {
			t.Errorf("a small answer waited for %v", took)
		}
		if status, _ := dial("a").send("%s", strings.ReplaceAll(small, "/post", "/long")).answered(); status == 200 {
			t.Error("a large answer is sent without memory for it")
		}
	})
}

// TestPipelining: a request that was sent before the answer to the one before it is
// answered, and then the connection is closed.
//
// Attack (HTTP server): Requests sent without reading answers, also over TLS.
// Result: The first such request is the connection's last.
// Also: `TestTLS`.
func TestPipelining(t *testing.T) {
	t.Parallel()
	serveLocal(t, 10, echo, func(dial func(from ...string) *visit) {
		patient := dial()
		for range 10 {
			patient.send(get, "a").wants(200, "/a")
		}
		hasty := dial()
		go hasty.send("%s", strings.Repeat(fmt.Sprintf(get, "b"), 100))
		hasty.wants(200, "/b")
		hasty.wants(200, "/b")
		if status, _ := hasty.answered(); status != 0 {
			t.Error("a third request was answered")
		}
	})
}

// TestHeadLines: a head of too many lines is refused, in pieces of any size.
//
// Attack (HTTP server): Heads of thousands of short headers.
// Result: Bounded, before parsing.
// Also: `TestTLS`.
func TestHeadLines(t *testing.T) {
	t.Parallel()
	lines := func(n int) string {
		return "GET /a HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("x:\r\n", n-2) + "\r\n"
	}
	serveLocal(t, 10, echo, func(dial func(from ...string) *visit) {
		for _, piece := range []int{1, 3, 5000} {
			kept := dial()
			for _, c := range []struct{ lines, status int }{{2, 200}, {maxLines, 200}, {maxLines + 1, 431}} {
				text := lines(c.lines)
				go func() {
					for len(text) > 0 {
						n := min(piece, len(text))
						kept.send("%s", text[:n])
						text = text[n:]
					}
				}()
				if status, reason := kept.answered(); status != c.status || status == 431 && !strings.Contains(reason, "too many lines") {
					t.Errorf("%d lines in pieces of %d: %d %s", c.lines, piece, status, reason)
				}
			}
		}
		body := strings.Repeat("\n", 2*maxLines)
		dial().send("%s%s", post(len(body), ""), body).wants(200, fmt.Sprint("/post", len(body)))
	})
}
