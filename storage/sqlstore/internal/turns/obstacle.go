package turns

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

// writeLock is the byte of the -shm file that SQLite's writer locks.
const writeLock = 120

// An obstacle finds out and logs which process keeps this process from writing to a file.
type obstacle struct {
	file string
	log  hclog.Logger
}

// String names the processes that block this one, and what an operator can do.
func (o *obstacle) String() string {
	var all []filelock.Holder
	known := true
	first, second := dbfile.Gates(o.file)
	for _, lock := range []struct {
		path string
		at   int64
	}{{second, 0}, {first, 0}, {o.file + "-shm", writeLock}} {
		found, err := filelock.Holders(lock.path, lock.at)
		known = known && err == nil
		all = append(all, found...)
	}
	text := describe(all)
	switch {
	case text != "":
		return text
	case !known || len(all) == 0:
		return "another process has the turn, and the system does not report which: ebb list and ebb doctor still " +
			"work, because they do not write"
	default:
		return "this process has the turn itself"
	}
}

// describe describes the processes other than this one. If some of them are stopped, it describes only these,
// because the others wait for them.
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

// watch logs the obstacle after turnPatience and then at intervals, until quiet is called.
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

// report logs the obstacle.
func (o *obstacle) report(waited time.Duration) {
	o.log.Warn(logevent.WriteBlocked, "database", o.file, "waited", waited.Round(time.Second).String(),
		"reason", o.String())
}
