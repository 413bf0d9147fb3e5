package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	attackers   = 1000            // of each kind
	attackTime  = 8 * time.Second // once all are there
	attackPause = 3 * time.Second // before a connection that was cut off comes again
	attackKinds = 4
)

// The keys of the servers that are attacked.
const (
	rightKey   = "0123456789abcdef0123456789abcdef"
	workersKey = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" // for tasks only
)

// attack is a program that attacks a server for a while, and says how many connections
// of each kind it made.
func attack() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var made [attackKinds]atomic.Int64
	var all, first sync.WaitGroup
	for kind, attack := range [attackKinds]func(net.Conn) error{pipeline, neverEndHead, dripBody, sendBody} {
		many := attackers
		if kind > 1 {
			many /= 2
		}
		first.Add(many)
		for range many {
			connected := sync.OnceFunc(first.Done)
			all.Go(func() { attackAgain(ctx, attack, func() { made[kind].Add(1); connected() }) })
		}
	}
	first.Wait()
	over := time.NewTimer(attackTime)
	<-over.C
	cancel()
	all.Wait()
	for kind := range made {
		_, _ = fmt.Fprintln(os.Stdout, made[kind].Load())
	}
}

// attackAgain connects, attacks, and comes again when it was cut off.
func attackAgain(ctx context.Context, attack func(net.Conn) error, connected func()) {
	for ctx.Err() == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", os.Getenv("ATTACKED"))
		if err == nil {
			connected()
			cut := context.AfterFunc(ctx, func() { _ = conn.Close() })
			_ = attack(conn) // it is cut off
			cut()
			_ = conn.Close()
		}
		pause := time.NewTimer(attackPause)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
}

var requests = []byte(strings.Repeat("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", 400))

// pipeline sends requests, and reads no answer.
func pipeline(conn net.Conn) error {
	for {
		if _, err := conn.Write(requests); err != nil {
			return err
		}
	}
}

// neverEndHead sends a head of many headers, but for its end.
func neverEndHead(conn net.Conn) error {
	var incomplete strings.Builder
	incomplete.WriteString("GET /livez HTTP/1.1\r\nHost: localhost\r\n")
	for i := range 190 {
		fmt.Fprintf(&incomplete, "%d: %s\r\n", i, strings.Repeat("x", 60))
	}
	if _, err := io.WriteString(conn, incomplete.String()); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, conn)
	return err
}

// large is a request with a large event.
var large = sync.OnceValue(func() []byte {
	event := `{"specversion":"1.0","id":"1","source":"s","type":"t","a":"b","data":[` + strings.Repeat("1,", 1<<19-100) + "1]}"
	return fmt.Appendf(nil, "POST /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/cloudevents+json\r\nContent-Length: %d\r\n\r\n%s", rightKey, len(event), event)
})

// dripBody sends nearly all of a body, and the rest byte by byte.
func dripBody(conn net.Conn) error {
	const rest = 10_000
	text := large()
	if _, err := conn.Write(text[:len(text)-rest]); err != nil {
		return err
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := len(text) - rest; ; i++ {
		if _, err := conn.Write(text[i : i+1]); err != nil {
			return err
		}
		<-tick.C
	}
}

// sendBody sends all of a body, and reads the answer.
func sendBody(conn net.Conn) error {
	if _, err := conn.Write(large()); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}
