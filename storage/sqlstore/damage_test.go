//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// filled returns a database in which every table has something, at rest.
func filled(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(crashdisk.Careless(t), "runs.db")
	s := open(t, file)
	fillFixture(t, s)
	shut(t, s)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const page = 4096

// TestTruncated cuts the database off: that is never taken for all there is. At least a
// page is missing, as the end of a page may be unused space.
//
// Guarantee (G8): A truncated file is an error. Flipped bits give an error with the file's name, or have no effect.
// Nothing panics.
// Also: `TestBitRot`, `internal/codec: FuzzDecode`.
func TestTruncated(t *testing.T) {
	t.Parallel()
	whole, rng := filled(t), dice(t)
	sizes := []int{2, 15, 16, 99, 100, 511, 512, page - 1, page, page + 1, len(whole) - page - 1, len(whole) - page}
	for range crashes(10) {
		sizes = append(sizes, 1+rng.IntN(len(whole)-page))
	}
	for _, size := range sizes {
		file := filepath.Join(crashdisk.Careless(t), "runs.db")
		write(t, file, string(whole[:size]))
		s, err := sqlstore.Open(t.Context(), file)
		if err == nil {
			err = errors.Join(useAll(s), s.Close())
		}
		if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, sqlstore.ErrForeign) || !strings.Contains(err.Error(), file) {
			t.Errorf("%d bytes of %d: %v", size, len(whole), err)
		}
	}
}

// TestBitRot changes bytes on the disk without a process that could know. Reading and writing end with an error that
// says where, or notice nothing. They do not panic, and they end.
func TestBitRot(t *testing.T) {
	t.Parallel()
	whole, rng := filled(t), dice(t)
	damages := map[string]func(text []byte, rng *rand.Rand) []byte{
		"a bit":      func(text []byte, rng *rand.Rand) []byte { text[rng.IntN(len(text))] ^= 1 << rng.IntN(8); return text },
		"the header": func(text []byte, rng *rand.Rand) []byte { text[rng.IntN(100)] ^= 1 << rng.IntN(8); return text },
		"head of page": func(text []byte, rng *rand.Rand) []byte {
			text[page*rng.IntN(len(text)/page)+rng.IntN(32)]++
			return text
		},
		"a sector": func(text []byte, rng *rand.Rand) []byte {
			at := 512 * rng.IntN(len(text)/512)
			clear(text[at : at+512])
			return text
		},
		"a page for another": func(text []byte, rng *rand.Rand) []byte {
			from, to := page*rng.IntN(len(text)/page), page*rng.IntN(len(text)/page)
			copy(text[to:to+page], text[from:from+page])
			return text
		},
		"more than there was": func(text []byte, rng *rand.Rand) []byte {
			return append(text, slices.Repeat([]byte{byte(rng.IntN(256))}, 1+rng.IntN(3*page))...)
		},
	}
	for name, damage := range damages {
		for i := range crashes(12) {
			rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(crashdisk.Careless(t), "runs.db")
				write(t, file, string(damage(slices.Clone(whole), rng)))
				s, err := sqlstore.Open(t.Context(), file)
				if err != nil {
					clearError(t, file, err)
					return
				}
				clearError(t, file, useAll(s))
				clearError(t, file, s.Close())
			})
		}
	}
}

// clearError fails the test unless every error says where it is from, or is one
// of the contract's.
func clearError(t *testing.T, file string, err error) {
	t.Helper()
	if joined, ok := err.(interface{ Unwrap() []error }); ok && !strings.HasPrefix(err.Error(), "sqlstore: ") {
		for _, err := range joined.Unwrap() {
			clearError(t, file, err)
		}
		return
	}
	if err == nil || strings.Contains(err.Error(), file) {
		return
	}
	for _, known := range []error{
		storage.ErrCorrupt, storage.ErrNotFound, storage.ErrExists, storage.ErrFenced, storage.ErrInvalid, storage.ErrGone, storage.ErrNewMessages,
		storage.ErrConflict,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Errorf("the error does not say where: %v", err)
}

// useAll reads all that there is and writes a little, and returns what went
// wrong.
func useAll(s *sqlstore.Store) error {
	ctx := context.Background()
	runs, err := s.Runs(ctx, storage.RunQuery{})
	errs := []error{err}
	for _, id := range []string{"waiting", "held", "full", "over", "child"} {
		runs = append(runs, storage.Run{ID: id}) // also those that are not listed
	}
	for i := range runs {
		id := runs[i].ID
		_, err := s.Run(ctx, id)
		_, atoms := s.Atoms(ctx, id, storage.AtomQuery{})
		_, history := s.History(ctx, id, 0, 0)
		_, undos := s.Undos(ctx, id, 0, 0)
		_, timers := s.RunTimers(ctx, id)
		_, _, wakeups := s.Messages(ctx, id, 0)
		errs = append(errs, err, atoms, history, undos, timers, wakeups)
		claim, snap, err := s.Begin(ctx, id)
		if errs = append(errs, err); err != nil {
			continue
		}
		r := &snap.Run
		errs = append(errs, s.Commit(ctx, claim, &backend.Checkpoint{
			Head:    backend.Head{Seq: r.Seq, State: r.State, Entries: r.Entries + 1, Events: r.Events, Refs: r.Refs},
			Atoms:   []storage.Atom{{Path: "new"}},
			History: []storage.Entry{{Seq: r.Entries + 1, Path: "new"}},
			Push:    []storage.Undo{{N: r.Undos + 1, Path: "new"}},
		}), s.Send(ctx, storage.Message{Run: id, Key: "new"}), s.Release(ctx, claim, r.Wakeups+1, at(1)))
	}
	_, jobs := s.JobList(ctx, storage.JobQuery{})
	_, outgoing := s.Outgoing(ctx, at(100), 0)
	_, token := s.EndToken(ctx, "t-open", storage.TokenEnd{})
	_, def := s.Definition(ctx, "h1")
	_, purged := s.Purge(ctx, "over")
	return errors.Join(append(errs, jobs, outgoing, token, def, purged, useRecords(ctx, s))...)
}

// useRecords reads all named records, writes some, and starts a run on one.
func useRecords(ctx context.Context, s *sqlstore.Store) error {
	var errs []error
	for _, q := range []storage.RecordQuery{{Kind: "machine"}, {Kind: "alias", Prefix: "trip:"}, {Kind: "alias", ByTime: true, Reverse: true}} {
		_, list := s.NamedRecords(ctx, q)
		_, count := s.CountRecords(ctx, q.Kind, q.Prefix)
		errs = append(errs, list, count)
	}
	machine, err := s.NamedRecord(ctx, "machine", "trip")
	started := s.Create(ctx, storage.Run{ID: "on it"}, storage.RecordCheck{Kind: "machine", Key: "trip", Revision: machine.Revision})
	_, written := s.WriteRecords(ctx,
		storage.RecordWrite{Kind: "machine", Key: "trip", Was: machine.Revision, Body: machine.Body}, storage.RecordWrite{Kind: "machine", Key: "new"})
	_, deleted := s.WriteRecords(ctx, storage.RecordWrite{Kind: "alias", Key: "trip:live", Was: storage.AnyRevision, Delete: true})
	return errors.Join(append(errs, err, started, written, deleted)...)
}
