package rules

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// ClaimLater returns a claim that begins with the next commit of the run as it is stored.
func ClaimLater(run *storage.Run) backend.Claim {
	return backend.Claim{
		Run: run.ID, Fence: run.Fence + 1, ID: uuid.NewString(), Begins: run.Seq + 1,
		Wakeups: run.Wakeups,
	}
}

// Guard checks whether cp may be written under claim to the stored run. If cp was committed before, done is true.
// Otherwise, if cp may not be written, Guard returns ErrFenced or ErrInvalid.
func Guard(cp *backend.Checkpoint, run *storage.Run, claim backend.Claim) (done bool, err error) {
	switch {
	case claim.Makes(cp) && (run.ClaimID != claim.ID || run.Seq != cp.Head.Seq+1):
		return false, fmt.Errorf("%w: run %q", storage.ErrExists, claim.Run)
	case claim.BeginsWith(cp) && run.Fence == claim.Fence-1:
		if run.Owner != "" || run.Seq != cp.Head.Seq || run.Wakeups != claim.Wakeups {
			return false, storage.ErrFenced
		}
		return false, Continues(cp, run)
	case run.Fence != claim.Fence || run.ClaimID != claim.ID:
		return false, storage.ErrFenced
	case run.Seq == cp.Head.Seq+1:
		return true, nil
	case run.Owner == "" || run.Seq != cp.Head.Seq:
		return false, storage.ErrFenced
	}
	return false, Continues(cp, run)
}

// Continues returns ErrInvalid with the reason if the numbers in cp do not continue the numbers of the stored run.
func Continues(cp *backend.Checkpoint, run *storage.Run) error {
	h := &cp.Head
	for _, n := range [...]struct {
		of            string
		stored, first int64
	}{
		{"commit", run.Seq, h.Seq},
		{"history", run.Entries, h.Entries - int64(len(cp.History))},
		{"events", run.Events, h.Events - cp.Events()},
		{"payloads", run.Refs, h.Refs - int64(len(cp.Payloads))},
	} {
		if n.stored != n.first {
			return invalid(cp, "%s: the checkpoint continues from %d, but the run is at %d", n.of, n.first, n.stored)
		}
	}
	left := run.Undos - int64(cp.Pop)
	if left < 0 {
		return invalid(cp, "cannot pop %d entries of an undo stack of %d", cp.Pop, run.Undos)
	}
	if len(cp.Push) > 0 && cp.Push[0].N != left+1 {
		return invalid(cp, "undo stack: the checkpoint continues from %d, but the run is at %d", cp.Push[0].N-1, left)
	}
	return nil
}

func invalid(cp *backend.Checkpoint, format string, args ...any) error {
	return fmt.Errorf("%w: checkpoint %d: %s", storage.ErrInvalid, cp.Head.Seq+1, fmt.Sprintf(format, args...))
}
