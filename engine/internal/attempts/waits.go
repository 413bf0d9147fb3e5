package attempts

import (
	"math"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// Kind returns the kind of a timer.
func (k Key) Kind() storage.TimerKind {
	switch {
	case k.Token:
		return storage.TimerToken
	case k == Deadline:
		return storage.TimerDeadline
	case k.Node != nil && k.Node.Spec.Kind == grow.Timer:
		return storage.TimerWait
	default:
		return storage.TimerRetry
	}
}

// store stores with the next commit when a timer is due; the zero time deletes it.
func (t *Table) store(k Key, due time.Time) {
	path := "" // of the run itself
	if k.Unit != nil {
		path = k.Path
	}
	t.draft.Timer(path, k.Kind(), due)
}

// SetWait sets the timer of a wait. If waits are cut, it ends earlier, unless it limits something.
func (t *Table) SetWait(cmd *scheduler.Command) {
	k, due := Key{Unit: cmd.Unit}, cmd.Due
	limits := k.Unit != nil && k.Node != nil && k.Node.Spec.Limits
	if left := due.Sub(t.draft.Now); t.cut != 0 && !limits && left > 0 {
		due = t.draft.Now.Add(time.Duration(math.Round(float64(left) * (1 - t.cut))))
	}
	t.Set(k, due)
	t.store(k, due)
}

// DropWait drops the timer of a wait.
func (t *Table) DropWait(cmd *scheduler.Command) {
	k := Key{Unit: cmd.Unit}
	t.Drop(k)
	t.store(k, time.Time{})
}

// Fired records that a timer has fired. The run's deadline stays stored until the run has ended.
func (t *Table) Fired(k Key) {
	if k.Kind() != storage.TimerDeadline {
		t.store(k, time.Time{})
	}
}

// DropAll gives up all attempts and timers of a run that has ended.
func (t *Table) DropAll() {
	for k := range t.at {
		t.store(k, time.Time{})
	}
	for _, row := range t.found { // due before the run was loaded
		t.draft.Timer(row.Path, row.Kind, time.Time{})
	}
	t.Timers, t.found = Timers{}, nil
	for path := range t.open {
		t.Close(path, false)
	}
}

// Watch sets the timer for the first limit of the token to pass.
func (t *Table) Watch(a *Attempt) {
	if a.Unit == nil {
		return
	}
	k := a.limit()
	switch limit, due := a.Token.Due(); {
	case limit != storage.NoLimit:
		t.Set(k, due)
		t.store(k, due)
	default:
		t.unwatch(k)
	}
}

func (t *Table) unwatch(k Key) {
	if _, set := t.Due(k); set {
		t.Drop(k)
		t.store(k, time.Time{})
	}
}

// limit returns the key of the timer of the token's limits.
func (a *Attempt) limit() Key { return Key{Unit: a.Unit, Token: true} }
