package sfn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// Executions of machines with a LoggingConfiguration write a line for each event of their history into a log group.
// The process that drives an execution writes the lines after the commits. A record of the execution holds the number
// of the last event whose line was written, so another process continues after the death of the first one. A line is
// written once, or twice if a process dies just then.

const logKind = "sfn.log" // key: the id of the run

// A loggedRun is the body of a record of logKind.
type loggedRun struct {
	Number int64 `json:"number"` // of the last event whose line was written
}

const (
	// logSweep is the time between looks for executions whose lines another process has not written.
	logSweep = time.Minute
	// logsRemembered bounds the executions whose last line a process remembers.
	logsRemembered = 10_000
	// eventsPerWrite is how many events are written at once.
	eventsPerWrite = 500
	// mostErrors bounds the errors that one look reports.
	mostErrors = 10
	// lastLines is how long a process that stops may take for the lines that it has not written.
	lastLines = 5 * time.Second
)

// logs are the executions whose lines must be written.
type logs struct {
	mu      sync.Mutex
	grown   map[string]bool // runs whose history has grown
	wake    chan struct{}
	written map[string]int64 // numbers of the last events that this process has written
}

func newLogs() *logs {
	return &logs{grown: map[string]bool{}, wake: make(chan struct{}, 1), written: map[string]int64{}}
}

// Observe reports an event of a run to the server, so that [Server.Log] writes the lines of an execution. Pass it to
// [engine.WithObserver].
func (s *Server) Observe(event engine.Event) {
	if len(s.config.LogGroups) == 0 || event.Kind != engine.LanguageEvent && event.Kind != engine.FlowChanged {
		return
	}
	s.logs.mu.Lock()
	s.logs.grown[event.Run] = true
	s.logs.mu.Unlock()
	select {
	case s.logs.wake <- struct{}{}:
	default: // it is awake
	}
}

// Log writes the lines of executions into [Config.LogGroups] until ctx ends. It reports errors to failed, and tries
// again later.
func (s *Server) Log(ctx context.Context, failed func(error)) {
	if len(s.config.LogGroups) == 0 {
		return
	}
	// What was begun when ctx ends is written, since writeGrown has taken it out of the set.
	writing, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastLines, cut) })()
	sweep := time.NewTicker(logSweep)
	defer sweep.Stop()
	for {
		select {
		case <-s.logs.wake:
			s.writeGrown(writing, failed)
		case <-sweep.C:
			if err := s.sweepLogs(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
		case <-ctx.Done():
			s.writeGrown(writing, failed)
			return
		}
	}
}

// writeGrown writes the lines of the runs whose history has grown.
func (s *Server) writeGrown(ctx context.Context, failed func(error)) {
	s.logs.mu.Lock()
	grown := s.logs.grown
	s.logs.grown = map[string]bool{}
	s.logs.mu.Unlock()
	for run := range grown {
		if err := s.writeLines(ctx, run); err != nil {
			failed(fmt.Errorf("the log of the execution %s: %w", run, err)) // sweepLogs tries again
		}
	}
}

// sweepLogs writes the lines that no process has written for some time, because the one that drove the execution died,
// or because a log group could not be written. A log group that cannot be written does not stop the others.
func (s *Server) sweepLogs(ctx context.Context) error {
	var errs []error
	for record, err := range storage.EachRecord(ctx, s.store, storage.RecordQuery{Kind: logKind}) {
		if err != nil {
			return err
		}
		if s.config.Now().Sub(record.Updated) < logSweep {
			continue
		}
		if err := s.writeLines(ctx, record.Key); err != nil && len(errs) < mostErrors {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// writeLines writes the lines of an execution that were not written.
func (s *Server) writeLines(ctx context.Context, id string) error {
	run, err := s.store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return s.forgetLog(ctx, id)
	}
	if err != nil {
		return err
	}
	x, ok := executionOf(&run)
	if !ok {
		return nil
	}
	to, known := s.config.LogGroups[x.logGroup()]
	if !known || to == nil {
		return nil // of another process, or the execution does not log
	}
	from, err := s.lastLine(ctx, x)
	if err != nil {
		return err
	}
	if from < run.Events {
		if from, err = s.writeEvents(ctx, x, to, from); err != nil {
			return err
		}
	}
	if run.State.Ended() && from >= run.Events {
		return s.forgetLog(ctx, id)
	}
	return nil
}

// writeEvents writes the lines of the events after a number, and returns the number of the last one.
func (s *Server) writeEvents(ctx context.Context, x *execution, to io.Writer, from int64) (int64, error) {
	for {
		entries, err := s.store.Events(ctx, x.run.ID, storage.EventQuery{After: from, Limit: eventsPerWrite})
		if err != nil || len(entries) == 0 {
			return from, err
		}
		text, last, err := x.lines(entries)
		if err != nil {
			return from, err
		}
		if len(text) > 0 {
			if _, err := to.Write(text); err != nil {
				return from, err
			}
		}
		from = last
		s.logs.remember(x.run.ID, from)
		write := records.Put(logKind, x.run.ID, storage.AnyRevision, loggedRun{from})
		if _, err := s.store.WriteRecords(ctx, write); err != nil {
			return from, err
		}
	}
}

// lastLine returns the number of the last event whose line was written; 0 if there is none.
func (s *Server) lastLine(ctx context.Context, x *execution) (int64, error) {
	if number, ok := s.logs.remembered(x.run.ID); ok {
		return number, nil
	}
	var log loggedRun
	_, err := s.records.Read(ctx, logKind, x.run.ID, &log)
	if !errors.Is(err, storage.ErrNotFound) || x.redrives() == 0 {
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		return log.Number, err
	}
	// The lines up to the end were written, and then the execution was redriven.
	q := storage.EventQuery{Reverse: true, Limit: eventsPerWrite}
	for {
		entries, err := s.store.Events(ctx, x.run.ID, q)
		if err != nil || len(entries) == 0 {
			return 0, err
		}
		for i := range entries {
			if q.After = entries[i].Number; entries[i].Type == "ExecutionRedriven" {
				return q.After - 1, nil
			}
		}
	}
}

// beginLog writes the record of an execution before it starts, so that its lines are written even if this process dies
// after the first commit. It reports whether there was none.
func (s *Server) beginLog(ctx context.Context, id string, of *settings) (begun bool, err error) {
	if to := s.config.LogGroups[of.logGroup()]; to == nil {
		return false, nil
	}
	_, err = s.store.WriteRecords(ctx, records.Put(logKind, id, 0, loggedRun{}))
	if errors.Is(err, storage.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// forgetLog deletes the record of an execution whose lines were all written.
func (s *Server) forgetLog(ctx context.Context, id string) error {
	_, err := s.store.WriteRecords(ctx, storage.RecordWrite{
		Kind: logKind, Key: id, Was: storage.AnyRevision, Delete: true,
	})
	return err
}

func (l *logs) remember(id string, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.written) >= logsRemembered {
		clear(l.written)
	}
	l.written[id] = number
}

func (l *logs) remembered(id string) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	number, ok := l.written[id]
	return number, ok
}
