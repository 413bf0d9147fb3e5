package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why RUN",
		Short: "Say what a run waits for, who moves it, and what would wake it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error {
				w, err := diagnosisOf(ctx, store, args[0])
				if err != nil {
					return err
				}
				if s.output == asJSON {
					return newJSON(s.out).Encode(w.json(time.Now()))
				}
				for _, sentence := range w.sentences(time.Now()) {
					if _, err := fmt.Fprintln(s.out, sentence); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// A diagnosis is what Ebb knows about why a run is in its present state.
type diagnosis struct {
	run      storage.Run
	owner    *storage.Owner // the process that drives it, or drove it until it died; nil if there is none
	atoms    []storage.Atom // that are in the middle of something, without their values
	more     int            // so many more are
	timers   []storage.TimerRow
	tokens   map[string]*storage.Token // open ones, by the atom's path
	messages []storage.Message
	machine  *flow.Waiting         // what its language says; nil when that is nothing
	sends    []message             // what it still has to send
	place    *storage.LimitedError // the limit by which there is no place for it; nil when there is one
}

func diagnosisOf(ctx context.Context, store storage.Store, id string) (*diagnosis, error) {
	run, err := findRun(ctx, store, id)
	if err != nil {
		return nil, err
	}
	w := &diagnosis{run: run, tokens: map[string]*storage.Token{}}
	owners, err := store.Owners(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	for i := range owners {
		if owners[i].ID == run.Owner {
			w.owner = &owners[i]
		}
	}
	if err := w.readAtoms(ctx, store); err != nil {
		return nil, unreachable(err)
	}
	if w.timers, err = store.RunTimers(ctx, id); err != nil {
		return nil, unreachable(err)
	}
	tokens, err := store.RunTokens(ctx, id)
	if err != nil {
		return nil, unreachable(err)
	}
	for i := range tokens {
		w.tokens[tokens[i].Path] = &tokens[i]
	}
	if _, w.messages, err = store.Messages(ctx, id); err != nil {
		return nil, unreachable(err)
	}
	if w.sends, err = messagesOf(ctx, store, id); err != nil {
		return nil, err
	}
	if w.place, err = store.Limited(ctx, id); err != nil {
		return nil, unreachable(err)
	}
	w.machine, err = waitsOf(ctx, store, &run)
	return w, err
}

// mostWaits is how many atoms that are in the middle of something are told of.
const mostWaits = 1000

// readAtoms reads the atoms that are in the middle of something.
func (w *diagnosis) readAtoms(ctx context.Context, store storage.Reader) error {
	if w.run.State.Ended() && w.run.Undo != storage.UndoFailed {
		return nil // none is
	}
	for a, err := range storage.EachAtom(ctx, store, w.run.ID, storage.AtomQuery{}) {
		if err != nil {
			return err
		}
		switch {
		case !inMiddle(&a):
		case len(w.atoms) < mostWaits:
			a.Spec, a.Input, a.Note, a.Result, a.RevertResult = nil, storage.Held{}, storage.Held{}, storage.Held{}, storage.Held{}
			w.atoms = append(w.atoms, a)
		default:
			w.more++
		}
	}
	return nil
}

// waitsOf returns what the language of a run says that it waits for; nil when it
// says nothing, or is not known here.
func waitsOf(ctx context.Context, store storage.Store, run *storage.Run) (*flow.Waiting, error) {
	if run.State.Ended() || len(run.Memory) == 0 {
		return nil, nil //nolint:nilnil // which is what it says
	}
	m, err := (&definition.Catalog{Store: store}).MachineOf(ctx, run)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil //nolint:nilnil // it is in a Go program
	case err != nil:
		return nil, err
	}
	return m.Waits(run), nil
}

// inMiddle reports whether an atom is in the middle of something: what only holds
// others is not.
func inMiddle(a *storage.Atom) bool {
	if a.Path == flow.GrowingPath || a.Kind == storage.KindFork || a.Kind == storage.KindFlow {
		return false
	}
	switch a.State {
	case states.TaskRunning, states.TaskRetrying, states.TaskReverting, states.TaskRevertFailure:
		return true
	default:
		return false
	}
}

// alive reports whether a live process moves the run.
func (w *diagnosis) alive() bool { return w.owner != nil && w.owner.Alive }

// A wait is one thing that a run waits for.
type wait struct {
	kind    waitKind
	path    string // of the atom; "" is the run
	since   time.Time
	due     time.Time
	attempt int
	token   *storage.Token
	timeout storage.TokenLimit // of the token, that passes when it is due
	message *storage.Message
	limit   *storage.LimitedError
	failure *jsonFailure // why it waits
}

type waitKind string

// The kinds of waits; they are the stable words of the JSON.
const (
	waitsForExecution waitKind = "execution"    // a task is being called
	waitsForToken     waitKind = "token"        // the holder of the token ends it
	waitsForWorker    waitKind = "worker"       // a worker that asks for work of its kind does it
	waitsForTime      waitKind = "timer"        // a wait of the flow
	waitsForRetry     waitKind = "retry"        // the pause before another attempt
	waitsForRevert    waitKind = "revert"       // a task is being undone
	waitsForUndoAgain waitKind = "revert_retry" // the pause before another attempt to undo
	waitsForMending   waitKind = "mending"      // an operator decides about what could not be undone
	waitsForDeadline  waitKind = "deadline"     // the run is ended then
	waitsForReading   waitKind = "message"      // the run's owner takes a message out of the inbox
	waitsForPlace     waitKind = "place"        // others are moved, as many as a limit allows
)

// waits lists what the run waits for.
func (w *diagnosis) waits() []wait {
	var list []wait
	if !w.run.State.Ended() {
		if w.place != nil && !w.run.Hold {
			list = append(list, wait{kind: waitsForPlace, limit: w.place})
		}
		for i := range w.atoms {
			list = append(list, w.waitOf(&w.atoms[i]))
		}
		for _, t := range w.timers {
			if t.Kind == storage.TimerDeadline {
				list = append(list, wait{kind: waitsForDeadline, path: t.Path, due: t.Due})
			}
		}
	} else if w.run.Undo == storage.UndoFailed {
		for i := range w.atoms {
			if w.atoms[i].State == states.TaskRevertFailure {
				list = append(list, w.waitOf(&w.atoms[i]))
			}
		}
	}
	for i := range w.messages {
		l := &w.messages[i]
		list = append(list, wait{kind: waitsForReading, path: l.Path, since: l.Sent, message: l})
	}
	return list
}

func (w *diagnosis) waitOf(a *storage.Atom) wait {
	now := wait{kind: waitsForExecution, path: a.Path, since: a.StartedAt, due: a.Due, attempt: a.Attempt}
	switch a.State {
	case states.TaskRetrying:
		now.kind, now.attempt, now.failure = waitsForRetry, a.Attempt+1, failureJSON(a.Failure)
	case states.TaskReverting:
		now.kind, now.attempt, now.failure = waitsForRevert, a.RevertAttempt+1, failureJSON(a.RevertFailure)
		if token := w.tokens[a.Path]; token != nil && token.Queue != "" {
			now.kind = waitsForWorker
			now.waitForHolder(token)
		}
		if !a.Due.IsZero() {
			now.kind = waitsForUndoAgain
		}
	case states.TaskRevertFailure:
		now.kind, now.attempt, now.failure = waitsForMending, max(a.RevertAttempt, 1), failureJSON(a.RevertFailure)
	default:
		switch token := w.tokens[a.Path]; {
		case a.Kind == storage.KindTimer:
			now.kind = waitsForTime
		case token != nil:
			now.kind = waitsForToken
			now.waitForHolder(token)
			if token.Queue != "" {
				now.kind = waitsForWorker
			}
		}
	}
	return now
}

// waitForHolder makes w a wait for the holder of a token, and says until when.
func (w *wait) waitForHolder(token *storage.Token) {
	w.token = token
	w.timeout, w.due = token.Due()
	if token.Take > 0 && !token.Since.IsZero() {
		w.since = token.Since
	}
}

// A wake is something that would move the run on.
type wake struct {
	By      string    `json:"by"`                // "owner", "timer", "token", "event" or "command"
	At      time.Time `json:"at,omitzero"`       // timer: when
	Path    string    `json:"path,omitempty"`    // of the atom it is about
	Token   string    `json:"token,omitempty"`   // token: which
	Event   string    `json:"event,omitempty"`   // event: its name
	Command string    `json:"command,omitempty"` // what to call
}

// wakes lists what would move the run on.
func (w *diagnosis) wakes(waits []wait) []wake {
	id := w.run.ID
	if w.run.State.Ended() {
		if w.run.Undo != storage.UndoFailed {
			return nil
		}
		return w.mends(waits)
	}
	var list []wake
	if w.alive() {
		list = append(list, wake{By: "owner"})
		for _, one := range waits {
			if !one.due.IsZero() && one.token == nil {
				list = append(list, wake{By: "timer", At: one.due.UTC(), Path: one.path})
			}
		}
	}
	for _, event := range w.lacks() {
		list = append(list, wake{By: "event", Event: event, Command: "ebb signal " + id + " " + event})
	}
	for _, one := range waits {
		if one.token != nil {
			list = append(list, wake{By: "token", Path: one.path, Token: one.token.ID, Command: "ebb complete " + one.token.ID})
		}
	}
	if mends := w.mends(waits); len(mends) > 0 && w.run.State == states.FlowSuspended {
		return append(list, mends...)
	}
	if !w.alive() {
		list = append(list, wake{By: "command", Command: "ebb resume " + id})
	}
	return list
}

// lacks lists the names of the events that the run's language waits for.
func (w *diagnosis) lacks() []string {
	var names []string
	if w.machine == nil {
		return nil
	}
	for _, t := range w.machine.Transitions {
		for _, g := range t.Groups {
			for _, name := range g.Events {
				if g.Has == "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// mends lists the ways to go on with what could not be undone.
func (w *diagnosis) mends(waits []wait) []wake {
	var list []wake
	for _, one := range waits {
		if one.kind == waitsForMending {
			list = append(list,
				wake{By: "command", Path: one.path, Command: "ebb retry --revert " + w.run.ID + " " + one.path},
				wake{By: "command", Path: one.path, Command: "ebb skip " + w.run.ID + " " + one.path})
		}
	}
	return list
}
