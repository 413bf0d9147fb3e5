package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// judge waits until the run of a play rests, and returns what contradicts the answers.
func (p *play) judge(ctx context.Context) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	var run storage.Run
	asked := time.Now() // to retry the undo
	noUndo := p.command == "abandon" || p.flow == "swf" && p.thing == "failure"
	if !p.until(fmt.Sprint(p, " rests, run ", p.run), func() (rests bool) {
		var err error
		if work, err := p.store.Run(ctx, p.work.run); err != nil || !work.State.Ended() { // of a child run
			return false
		}
		if run, err = p.store.Run(ctx, p.run); err != nil || !run.State.Ended() || p.flow != "swf" || noUndo {
			return err == nil && run.State.Ended()
		}
		if told := p.undone(); told || time.Since(asked) < time.Second {
			return told
		}
		asked = time.Now()
		p.aws(ctx, p.alive(), "SimpleWorkflowService.SignalWorkflowExecution",
			jsonObject{"domain": "storm", "workflowId": p.name + ":undo", "signalName": "retry"})
		return false
	}) {
		say("it does not rest: %v", run.State)
	}
	want := map[string]storage.Outcome{"timeout": storage.TimedOut, "sibling": storage.FailedOutcome, "silence": storage.FailedOutcome}[p.command]
	if want == 0 {
		want = storage.Cancelled
	}
	if p.ordered == yes && run.Outcome != want && (p.thing != "failure" || run.Outcome != storage.FailedOutcome) {
		say("the acknowledged %s did not stop it: the outcome is %v", p.command, run.Outcome)
	}
	for command, times := range p.commands {
		line := map[string]string{"abandon": "cancel"}[command]
		if line == "" {
			line = command
		}
		if command == "revert" && p.commandBy == "go" {
			line = "cancel"
		}
		if line == "cancel" && (p.commandBy == "sfn" || p.commandBy == "swf") || line == "resume" && p.commandBy == "command" {
			continue // has no line, as no person gives it, or as the command itself drives the run
		}
		if n := p.count("", line); p.ordered == yes && n < times { // the run had ended, and the command is refused soon
			happens(stormPatience/10, func() bool { return p.count("", line) == times })
		}
		if n := p.count("", line); n > times && p.commandBy != "command" || p.ordered == yes && n < times {
			say("%d commands %s were acknowledged, the history has %d", times, command, n)
		}
	}
	if p.thing == "heartbeat" {
		p.judgeHeartbeat(say)
	}
	happened, outcome := p.happened(say), "unknown"
	counts := p.thing != "heartbeat"
	if p.thing == "signal" && (p.when == "together" || p.command == "timeout") {
		counts = false // it may have come when the run no longer waited for it
	}
	if n := happened; counts && (n > 1 || p.thinged == yes && n == 0 || p.thinged == no && n > 0) {
		say("the %s was answered %q, and is %d times in the history", p.thing, p.thinged, n)
	}
	switch {
	case p.thing == "signal" && p.flow != "swf", p.thing == "result" && happened > 0:
		outcome = "done"
	case p.thing == "failure" && happened > 0:
		outcome = "failed"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, told := range p.reports {
		if !strings.Contains(told, `"outcome":"`+outcome+`"`) || outcome != "unknown" && !strings.Contains(told, fmt.Sprint(p.seat)) {
			say("the %s is %d times in the history, and the undo was told %s", p.thing, happened, told)
		}
	}
	switch {
	case len(p.reports) == 0 && !noUndo:
		say("the work was not undone")
	case len(p.reports) > 0 && p.command == "abandon" && p.ordered == yes && p.thing != "failure":
		say("it was abandoned, and undone")
	}
	if len(wrong) > 0 {
		say("the answers were %q and %q; the run is %v, %v, %v; the undo was told %q", p.thinged, p.ordered, run.State, run.Outcome, run.Failure, p.reports)
	}
	return wrong
}

// undone reports whether the undo was told something.
func (p *play) undone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reports) > 0
}

// history returns the lines of the run with the work of the play, which may be a child run.
func (p *play) history(run string) []storage.Entry {
	history, err := p.store.History(context.WithoutCancel(p.Context()), run, 0, 0)
	if err != nil {
		p.Error(err)
	}
	return history
}

// count returns how often an atom came to a state or, if atom is "", the run got a command.
func (p *play) count(atom, to string) (n int) {
	run := p.run
	if atom != "" {
		run = p.work.run
	}
	for _, e := range p.history(run) {
		if atom == "" && e.Kind == storage.EntryCommand && e.Type == to || atom != "" && isEnd(&e, atom, to) {
			n++
		}
	}
	return n
}

// isEnd reports whether a line says that an atom came to a state.
func isEnd(e *storage.Entry, atom, state string) bool {
	name, _, _ := strings.Cut(e.Path[strings.LastIndexByte(e.Path, '/')+1:], "#")
	return e.Kind == storage.EntryAtom && name == atom && states.Task(e.To).String() == state
}

// happened returns how often the history says that the thing happened. A history in terms of AWS must say the same, before
// the execution ends.
func (p *play) happened(say func(string, ...any)) (n int) {
	terms := map[string][]string{
		"result":  {"ActivitySucceeded", "TaskSucceeded", "ActivityTaskCompleted"},
		"failure": {"ActivityFailed", "TaskFailed", "ActivityTaskFailed"},
		"signal":  {"WorkflowExecutionSignaled"},
	}[p.thing]
	atom, state := "Book", map[string]string{"result": "SUCCESS", "failure": "FAILURE"}[p.thing]
	switch {
	case p.thing == "signal" && p.flow == "go":
		atom, state = "Hold", "SUCCESS"
	case p.thing == "signal":
		atom, state = "Last", "RUNNING"
	}
	events, ended := 0, false
	for _, e := range p.history(p.work.run) {
		marked := strings.Contains(fmt.Sprintf("%s %s %v", e.Body.Data.JSON(), e.Details.JSON(), e.Failure), fmt.Sprint(p.seat))
		switch {
		case isEnd(&e, atom, state) && (marked || atom == "Last"):
			n++
		case e.Kind != storage.EntryEvent:
		case strings.HasPrefix(e.Type, "Execution") && e.Type != "ExecutionStarted":
			ended = true
		case marked:
			for _, term := range terms {
				if e.Type == term {
					events++
				}
			}
			if ended {
				say("%s comes after the end", e.Type)
			}
		}
	}
	if p.flow == "swf" {
		return events
	}
	if p.flow != "go" && p.flow != "events" && events != n {
		say("AWS's history has the %s %d times, Ebb's %d times", p.thing, events, n)
	}
	return n
}

// judgeHeartbeat wants an acknowledged heartbeat to move the time limit, and to be in its failure.
func (p *play) judgeHeartbeat(say func(string, ...any)) {
	if p.command != "silence" || p.thinged != yes {
		return
	}
	for _, e := range p.history(p.work.run) {
		if !isEnd(&e, "Book", "FAILURE") {
			continue
		}
		const slack = 50 * time.Millisecond // between clocks
		if e.Time.Before(p.sent.Add(stormLimit - slack)) {
			say("a heartbeat at %v was acknowledged, and the time was over at %v", p.sent, e.Time)
		}
		if p.thingBy != "sfn" && !strings.Contains(string(e.Failure.Details.JSON()), p.code()) {
			say("the failure lacks what the last heartbeat said: %+v", e.Failure)
		}
		return
	}
	say("the work did not time out")
}
