package storagetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (w *world) checkpoint(rt *rapid.T, r *modelRun) backend.Checkpoint {
	cp := backend.Checkpoint{Head: backend.Head{
		State:  rapid.SampledFrom([]states.Flow{states.FlowRunning, states.FlowSuccess}).Draw(rt, "state"),
		Output: inline(rapid.IntRange(0, 9).Draw(rt, "output")),
	}}
	if rapid.Bool().Draw(rt, "with memory") {
		cp.Head.Memory = value(rapid.IntRange(0, 9).Draw(rt, "memory"))
	}
	paths := []string{"x", "y", "z"}
	for _, path := range rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 0, 3, rapid.ID).Draw(rt, "atoms") {
		a := fullAtom(path)
		a.Live = rapid.Bool().Draw(rt, "live")
		a.State = rapid.SampledFrom([]states.Task{states.TaskRunning, states.TaskSuccess}).Draw(rt, "atom state")
		if n := rapid.SampledFrom([]int{0, 10, 500, 3000}).Draw(rt, "details"); n > 0 {
			a.Details = atom.Value(strings.Repeat("d", n))
		}
		a.Attempt = rapid.IntRange(0, 1000).Draw(rt, "attempt")
		if rapid.Bool().Draw(rt, "large") {
			data := large(path + strconv.Itoa(a.Attempt))
			cp.Payloads = append(cp.Payloads, backend.Payload{Data: data})
			a.Result = storage.Held{Ref: r.Run.Refs + int64(len(cp.Payloads)), Data: data}
		}
		a.Overflow = r.Run.Refs + int64(len(cp.Payloads))
		cp.Atoms = append(cp.Atoms, a)
		kind := rapid.SampledFrom([]storage.EntryKind{storage.EntryAtom, storage.EntryEvent}).Draw(rt, "kind")
		cp.History = append(cp.History, storage.Entry{Kind: kind, Time: at(a.Attempt), Path: path, Body: a.Result})
	}
	if len(cp.Atoms) == 0 {
		cp.Forget = []string{rapid.SampledFrom(paths).Draw(rt, "forget")}
	}
	cp.Pop = rapid.IntRange(0, int(r.Run.Undos)).Draw(rt, "pop")
	for range rapid.IntRange(0, 2).Draw(rt, "push") {
		cp.Push = append(cp.Push, storage.Undo{Path: rapid.SampledFrom(paths).Draw(rt, "pushed")})
	}
	if rapid.Bool().Draw(rt, "timer") {
		t := storage.TimerRow{Run: r.Run.ID, Path: rapid.SampledFrom(paths).Draw(rt, "timer of")}
		if rapid.Bool().Draw(rt, "set") {
			t.Due = at(rapid.IntRange(0, 100).Draw(rt, "due"))
		}
		cp.Timers = append(cp.Timers, t)
	}
	for _, l := range r.Messages {
		if rapid.Bool().Draw(rt, "take") {
			cp.Taken = append(cp.Taken, l.N)
		}
	}
	if rapid.Bool().Draw(rt, "changed") {
		cp.Structure = rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(rt, "structure")
		input := inline(rapid.IntRange(0, 9).Draw(rt, "input"))
		if len(cp.Payloads) > 0 {
			input = storage.Held{Ref: r.Run.Refs + 1, Data: cp.Payloads[0].Data}
		}
		cp.Input = &input
	}
	if rapid.Bool().Draw(rt, "token") {
		w.made++
		cp.Tokens = append(cp.Tokens, storage.Token{ID: fmt.Sprint("t", w.made), Run: r.Run.ID, Path: "x"})
	}
	return cp
}

// applied changes the model as the checkpoint does.
func (w *world) applied(r *modelRun, cp *backend.Checkpoint) {
	h, run := &cp.Head, &r.Run
	run.Seq++
	run.State, run.Output, run.Updated = h.State, h.Output, h.Time
	if h.Memory != nil {
		run.Memory = h.Memory
	}
	if cp.Input != nil {
		run.Input = *cp.Input
	}
	if cp.Structure != "" {
		run.Structure = cp.Structure
	}
	run.Entries, run.Events, run.Refs = h.Entries, h.Events, h.Refs
	run.Undos += int64(len(cp.Push) - cp.Pop)
	for _, a := range cp.Atoms {
		r.forget(a.Path)
		r.Atoms = append(r.Atoms, a)
	}
	for _, path := range cp.Forget {
		r.forget(path)
	}
	slices.SortFunc(r.Atoms, func(a, b storage.Atom) int { return int(a.Path[0]) - int(b.Path[0]) })
	r.History = append(r.History, cp.History...)
	r.Undos = r.Undos[cp.Pop:]
	for _, u := range cp.Push {
		r.Undos = append([]storage.Undo{u}, r.Undos...)
	}
	for _, t := range cp.Timers {
		r.Timers = slices.DeleteFunc(r.Timers, func(o storage.TimerRow) bool { return o.Path == t.Path })
		if !t.Due.IsZero() {
			r.Timers = append(r.Timers, t)
		}
	}
	slices.SortFunc(r.Timers, func(a, b storage.TimerRow) int {
		if c := a.Due.Compare(b.Due); c != 0 {
			return c
		}
		return int(a.Path[0]) - int(b.Path[0])
	})
	r.Messages = slices.DeleteFunc(r.Messages, func(l storage.Message) bool { return slices.Contains(cp.Taken, l.N) })
	for _, t := range cp.Tokens {
		w.tokens[t.ID] = t
	}
}

func (r *modelRun) forget(path string) {
	r.Atoms = slices.DeleteFunc(r.Atoms, func(a storage.Atom) bool { return a.Path == path })
}

func (w *world) commit(rt *rapid.T) {
	r := w.some(rt)
	if r.pen == nil {
		rt.Skip("not owned")
	}
	cp := r.pen.next(w.checkpoint(rt, r))
	must(w.t, "Commit", r.pen.commit(w.t.Context(), cp))
	w.applied(r, cp)
	if rapid.Bool().Draw(rt, "again") {
		must(w.t, "Commit again", r.pen.store.Commit(w.t.Context(), r.pen.claim, cp))
	}
}

func (w *world) step(rt *rapid.T) {
	r := w.some(rt)
	if r.pen != nil {
		rt.Skip("owned")
	}
	cp := w.checkpoint(rt, r)
	due := at(rapid.IntRange(0, 100).Draw(rt, "due"))
	cp.Head.Due = due
	must(w.t, "Step", w.any(rt).Step(w.t.Context(), r.Run.ID, func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		number(&cp, headOf(&snap.Run), snap.Run.Undos)
		return &cp, nil
	}))
	r.Run.Fence++
	w.applied(r, &cp)
	r.Run.Due, r.due = due, false
	r.Run.ClaimID = load(w.t, w.stores[0], r.Run.ID).ClaimID
}
