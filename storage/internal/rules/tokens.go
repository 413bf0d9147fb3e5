package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// NoWork is the error of TakeToken if the queues contain no work.
func NoWork(queues []string) error {
	return fmt.Errorf("%w: work in queue %q", storage.ErrNotFound, strings.Join(queues, ", "))
}

// FreeBy reports whether a worker can take the token's work at the given time. Work that is to be given up is not given
// to its first worker.
func FreeBy(t *storage.Token, now time.Time) bool {
	return t.Worker == "" && !t.GiveUp || !t.Lease.IsZero() && !t.Lease.After(now)
}

// Take assigns the work to a worker.
func Take(t *storage.Token, q *storage.WorkRequest, now time.Time) {
	t.Worker, t.Beat, t.Since, t.Lease = q.Worker, now, now, Until(now, q.Lease)
	t.Take++
}

// Keep applies a worker's heartbeat.
func Keep(t *storage.Token, k *storage.Heartbeat, now time.Time) {
	t.Beat = now
	if k.Take != 0 {
		t.Lease = Until(now, k.Lease)
	}
	if k.GiveBack {
		t.Lease, t.Take = now, t.Take+storage.GivenBack
	}
	if k.Progress != 0 {
		t.Progress = k.Progress
	}
	if k.Details != nil {
		t.Details = k.Details
	}
}

// Tells reports whether the token's run receives a message that the work was taken: because its language needs it,
// or because time limits start now.
func Tells(t *storage.Token) bool {
	return t.Take == 1 && t.Work == nil || t.StartToClose > 0 || t.Heartbeat > 0
}

// Until returns when a lease expires; zero means never.
func Until(now time.Time, lease time.Duration) time.Time {
	if lease == 0 {
		return time.Time{}
	}
	return now.Add(lease)
}

// Has reports whether the token belongs to the worker that took it under that number.
func Has(t *storage.Token, take int64) bool {
	return take == 0 || take == t.Take || take == storage.Untaken && t.Take == 0
}

// EndedMessage returns the message to the token's run that the token ended.
func EndedMessage(t *storage.Token, by *storage.Issuer) storage.Message {
	return storage.Message{
		Run: t.Run, Kind: backend.MessageToken, Path: t.Path, Incarnation: t.Incarnation,
		Name: t.ID, Body: t.Result, Failure: t.Failure, Issuer: by,
	}
}

// TakenMessage returns the message to the token's run that a worker took its work.
func TakenMessage(t *storage.Token) storage.Message {
	l := storage.Message{
		Run: t.Run, Kind: backend.MessageTaken, Path: t.Path, Incarnation: t.Incarnation,
		Name: t.ID, Body: atom.MustEncode(t.Worker),
	}
	if t.Take > 1 {
		l.Kind = backend.MessageRetaken
	}
	return l
}
