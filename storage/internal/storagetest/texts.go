package storagetest

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// testTexts: each store refuses texts that some database cannot keep, before anything is written. It finds nothing by
// such a text.
func testTexts(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	for _, bad := range []string{"a\x00b", "\xff"} {
		named, flown, labeled := run(bad), run("b"), run("b")
		flown.Flow, labeled.Labels = bad, map[string]string{"k": bad}
		for _, r := range []storage.Run{named, flown, labeled} {
			want(t, "Create", s.Create(t.Context(), r), storage.ErrInvalid)
		}
		want(t, "PostJob", s.PostJob(t.Context(), storage.Job{ID: bad, Flow: "f"}), storage.ErrInvalid)
		want(t, "PostJob", s.PostJob(t.Context(), storage.Job{ID: "j", Run: bad, Flow: "f"}), storage.ErrInvalid)
		want(t, "PutSchedule", s.PutSchedule(t.Context(), backend.Schedule{ID: bad, Flow: "f"}), storage.ErrInvalid)
		want(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Name: bad}), storage.ErrInvalid)
		want(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Key: bad}), storage.ErrInvalid)
		want(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "skip", Path: bad}), storage.ErrInvalid)
		want(t, "Run", errOf(s.Run(t.Context(), bad)), storage.ErrNotFound)
		want(t, "NamedRecord", errOf(s.NamedRecord(t.Context(), "k", bad)), storage.ErrNotFound)
		for _, q := range []storage.WorkRequest{{Queues: []string{bad}, Worker: "w"}, {Queues: []string{"q"}, Worker: bad}} {
			q.Lease = time.Second
			_, err := s.TakeToken(t.Context(), q)
			want(t, "TakeToken", err, storage.ErrInvalid)
		}
	}
}
