package inline

import (
	"bytes"
	"maps"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestRecent gives random checkpoints to the records in a row, and finds in row
// and tables together what plain maps hold. The row stays small.
//
// Guarantee (G1): A run's newest records read the same from its row and from tables.
// Also: `storage/sqlstore: TestStore/Model` (random calls).
func TestRecent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := &records{tables: map[string]string{}, want: map[string]string{}, live: map[string]bool{}}
		for seq := range rapid.IntRange(1, 30).Draw(rt, "commits") {
			w.commit(rt, w.checkpoint(rt, seq))
		}
		w.sameAtoms(rt)
		w.sameHistory(rt)
	})
}

// records are the row, the tables, and their expected content.
type records struct {
	row     Records
	scratch Scratch
	tables  map[string]string
	history []byte

	want  map[string]string
	live  map[string]bool
	lines []storage.Entry
}

func (w *records) checkpoint(rt *rapid.T, seq int) *backend.Checkpoint {
	cp := &backend.Checkpoint{}
	for range rapid.SampledFrom([]int{0, 1, 2, 2, 2, 30}).Draw(rt, "atoms") {
		a := storage.Atom{
			Path:    strconv.Itoa(rapid.IntRange(0, 40).Draw(rt, "path")),
			Live:    rapid.Bool().Draw(rt, "live"),
			State:   rapid.SampledFrom([]states.Task{states.TaskRunning, states.TaskSuccess, states.TaskReverting}).Draw(rt, "state"),
			Details: bytes.Repeat([]byte{'d'}, rapid.SampledFrom([]int{0, 100, 700, 2000}).Draw(rt, "size")),
			Attempt: seq,
		}
		cp.Atoms = append(cp.Atoms, a)
		record := codec.AppendAtom(nil, &a)
		w.want[a.Path], w.live[a.Path] = string(record), a.Live
		w.lines = append(w.lines, storage.Entry{Seq: int64(len(w.lines) + 1), Path: a.Path, Attempt: seq})
	}
	cp.History = w.lines[len(w.lines)-len(cp.Atoms):]
	cp.Head.Entries = int64(len(w.lines))
	if rapid.Bool().Draw(rt, "forgets") {
		path := strconv.Itoa(rapid.IntRange(0, 40).Draw(rt, "forgotten"))
		cp.Forget = []string{path}
		delete(w.want, path)
		delete(w.tables, path)
	}
	return cp
}

func (w *records) commit(rt *rapid.T, cp *backend.Checkpoint) {
	turn, err := w.row.Turn(&w.scratch, cp)
	if err != nil {
		rt.Fatal(err)
	}
	if len(turn.Row) > maxSize+20 {
		rt.Fatalf("the row holds %d bytes", len(turn.Row))
	}
	if len(turn.History) > 0 {
		if before, err := codec.DecodeHistory(1, w.history, 0, codec.NewSpace(0), nil); err != nil || turn.First != int64(len(before)+1) {
			rt.Fatalf("history leaves from %d on, after %d: %v", turn.First, len(before), err)
		}
		w.history = append(w.history, turn.History...)
	}
	for _, a := range turn.Atoms {
		w.tables[string(a.Path)] = string(a.Record)
	}
	w.row = turn.Row
}

func (w *records) sameAtoms(rt *rapid.T) {
	var rows []Row
	for path, record := range w.tables {
		rows = append(rows, Row{path, []byte(record)})
	}
	newest, err := w.row.ByPath()
	if err != nil {
		rt.Fatal(err)
	}
	all := Over(rows, newest, func(string, *Atom) bool { return true })
	got := map[string]string{}
	for _, r := range all {
		got[r.Path] = string(r.Record)
	}
	if !maps.Equal(got, w.want) || len(all) != len(w.want) {
		rt.Errorf("%d atoms, of %d paths; want %d", len(all), len(got), len(w.want))
	}
	for _, r := range Over(nil, newest, func(_ string, a *Atom) bool { return a.IsLive() }) {
		if !w.live[r.Path] {
			rt.Errorf("%q is not live", r.Path)
		}
	}
}

func (w *records) sameHistory(rt *rapid.T) {
	_, newest, _, err := w.row.History()
	if err != nil {
		rt.Fatal(err)
	}
	told, err := codec.DecodeHistory(1, append(w.history, newest...), 0, codec.NewSpace(0), nil)
	if err != nil || len(told) != len(w.lines) {
		rt.Fatalf("%d lines of history, %v; want %d", len(told), err, len(w.lines))
	}
	for i := range told {
		if told[i].Path != w.lines[i].Path || told[i].Attempt != w.lines[i].Attempt {
			rt.Errorf("line %d is %+v; want %+v", i, told[i], w.lines[i])
		}
	}
}

// FuzzRecent reads any bytes without a panic, and to an end.
func FuzzRecent(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{1, 0x7f})
	turn, err := Records(nil).Turn(&Scratch{}, &backend.Checkpoint{
		Head: backend.Head{Entries: 1}, Atoms: []storage.Atom{{Path: "a"}}, History: []storage.Entry{{Seq: 1, Path: "a"}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(turn.Row))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = Records(b).ByPath()
		_, _ = Records(b).Turn(&Scratch{}, &backend.Checkpoint{Atoms: []storage.Atom{{Path: "a"}}})
	})
}
