package turns

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/filelock"
)

// writeLock is the byte of the file -shm on which SQLite's writer holds a lock.
const writeLock = 120

// An obstacle is what keeps this process from writing to a file: it finds out which
// process that is, and logs it.
type obstacle struct {
	file string
	log  hclog.Logger
}

// String says which processes are in the way, and what helps.
func (o *obstacle) String() string {
	var all []filelock.Holder
	known := true
	for _, lock := range []struct {
		path string
		at   int64
	}{{gateFile(o.file, "b"), 0}, {gateFile(o.file, "a"), 0}, {o.file + "-shm", writeLock}} {
		found, err := filelock.Holders(lock.path, lock.at)
		known = known && err == nil
		all = append(all, found...)
	}
	text := describe(all)
	switch {
	case text != "":
		return text
	case !known || len(all) == 0:
		return "another process has the turn, and the system does not say which: ebb list and ebb doctor do not write, and work meanwhile"
	default:
		return "this process has the turn itself"
	}
}

// describe says what is known of processes: of those that are stopped, if there are
// any, as the others wait for them. It leaves out this process.
func describe(all []filelock.Holder) string {
	var stopped, others []string
	met := map[int]bool{os.Getpid(): true}
	for i := range all {
		h := &all[i]
		if met[h.PID] {
			continue
		}
		met[h.PID] = true
		text := fmt.Sprintf("%v has the turn to write: %s", h, h.Helps())
		if h.Stopped() {
			stopped = append(stopped, text)
		} else {
			others = append(others, text)
		}
	}
	if len(stopped) > 0 {
		others = stopped
	}
	return strings.Join(others, "; ")
}

// watch logs what is in the way once it has been there for turnPatience, and now and
// then again, until it is told to be quiet.
func (o *obstacle) watch() (quiet func()) {
	begun, done := time.Now(), make(chan struct{})
	first := time.AfterFunc(turnPatience, func() {
		again := time.NewTicker(turnReminder)
		defer again.Stop()
		for {
			select {
			case <-done:
				return
			default:
			}
			o.report(time.Since(begun))
			select {
			case <-done:
				return
			case <-again.C:
			}
		}
	})
	return func() {
		first.Stop()
		close(done)
	}
}

// report logs what is in the way.
func (o *obstacle) report(waited time.Duration) {
	o.log.Warn("waiting for the turn to write", "database", o.file, "waited", waited.Round(time.Second), "reason", o.String())
}
