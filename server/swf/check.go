package swf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A CheckStore is the part of a store that [Check] reads.
type CheckStore interface {
	backend.Reader
	backend.Keys
}

// checkTries is how often an execution is read that changes meanwhile.
const checkTries = 3

// Check compares the rows of an execution with its events: what is open, its tasks, its timers, its key, and that the
// ids of the events have no gap and refer to events that were open. It returns a sentence for each difference. Only a
// program other than Ebb can cause one. Check finds none in a run that is not an execution, has not begun, or changes
// all the time.
func Check(ctx context.Context, store CheckStore, id string) ([]string, error) {
	for range checkTries {
		run, err := store.Run(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		x, ok := executionOf(&run)
		if !ok || run.Events == 0 {
			return nil, nil
		}
		c := &check{store: store, execution: x}
		if err := c.all(ctx); err != nil {
			return nil, err
		}
		if len(c.found) == 0 {
			return nil, nil
		}
		again, err := store.Run(ctx, id)
		if err == nil && again.Seq == run.Seq {
			return c.found, nil
		}
	}
	return nil, nil
}

// A check is the comparison of one execution with its events.
type check struct {
	store     CheckStore
	execution *execution
	fold      swf.Fold
	found     []string
}

func (c *check) findf(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *check) all(ctx context.Context) error {
	run := c.execution.run
	if err := c.events(ctx); err != nil || len(c.found) > 0 {
		return err
	}
	if c.fold.Events != run.Events {
		c.findf("it has %d events, and its row says %d", c.fold.Events, run.Events)
	}
	if c.fold.Closed != run.State.Ended() {
		c.findf("it has a closing event: %t, and its run is %s", c.fold.Closed, run.State)
	}
	d, err := swf.Describe(run.Memory)
	if err != nil {
		c.findf("what it remembers cannot be read: %v", err)
		return nil
	}
	counts := c.fold.Counts()
	if !c.fold.Closed && d.OpenCounts != counts {
		c.findf("it remembers %+v, and by its events these are %+v", d.OpenCounts, counts)
	}
	if run.State != states.FlowRunning { // one that is suspended has not all of its rows
		return nil
	}
	if run.Owner == "" && (run.Due.IsZero() || run.Due.After(c.store.Now())) { // else an end may not have its event yet
		if err := c.tasks(ctx, counts); err != nil {
			return err
		}
	}
	return c.key(ctx)
}

// events adds the events to the fold, up to the first that cannot be.
func (c *check) events(ctx context.Context) error {
	for e, err := range storage.EachEvent(ctx, c.store, c.execution.run.ID, storage.EventQuery{}) {
		if err != nil {
			return err
		}
		if e.Number != c.fold.Events+1 {
			c.findf("event %d follows event %d", e.Number, c.fold.Events)
			return nil
		}
		attributes, err := attributesOf(&e)
		if err == nil {
			err = c.fold.Add(&grow.Event{Type: e.Type, Details: attributes})
		}
		if err != nil {
			c.findf("its history cannot be: %v", err)
			return nil
		}
	}
	return nil
}

// tasks compares the tokens and timers.
func (c *check) tasks(ctx context.Context, counts swf.OpenCounts) error {
	tokens, err := c.store.RunTokens(ctx, c.execution.run.ID)
	if err != nil {
		return err
	}
	decisions, activities := 0, 0
	for i := range tokens {
		switch queue := tokens[i].Queue; {
		case strings.HasPrefix(queue, swf.DecisionQueue(c.execution.Domain, "")):
			decisions++
		case strings.HasPrefix(queue, swf.ActivityQueue(c.execution.Domain, "")):
			activities++
		}
	}
	wanted := counts.OpenDecisionTasks
	if c.execution.Undoes != nil { // the decider is Ebb
		wanted = 0
	}
	if decisions != wanted || activities != counts.OpenActivityTasks {
		c.findf("workers can have %d decision tasks and %d activity tasks, and by its events these are %d and %d",
			decisions, activities, wanted, counts.OpenActivityTasks)
	}
	timers, err := c.store.RunTimers(ctx, c.execution.run.ID)
	if err != nil {
		return err
	}
	waits := 0
	for i := range timers {
		if timers[i].Kind == storage.TimerWait && timers[i].Path != swf.TimeoutNode {
			waits++
		}
	}
	if waits != counts.OpenTimers {
		c.findf("%d timers will fire, and by its events these are %d", waits, counts.OpenTimers)
	}
	return nil
}

// key checks that others find the execution by its workflowId.
func (c *check) key(ctx context.Context) error {
	if c.execution.Undoes != nil { // it has none
		return nil
	}
	key := swf.Key(c.execution.Domain, c.execution.WorkflowID)
	holder, err := c.store.OpenRun(ctx, key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.findf("it does not hold its key %s", key)
	case err != nil:
		return err
	case holder != c.execution.run.ID:
		c.findf("the run %s holds its key %s", holder, key)
	}
	return nil
}
