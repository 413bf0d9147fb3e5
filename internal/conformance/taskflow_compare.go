package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Compare returns where an outcome first differs from the record, or "". It compares everything: traces, calls with
// their arguments, the end of each run and the stored records. It allows two departures. It leaves failures in place of
// values (P2) out of the symbols. Reverts may receive more failures than in TaskFlow, which hides some (P9).
func (r *TaskFlowRecord) Compare(got *TaskFlowOutcome) string {
	if r.Expect.BuildError != "" || got.BuildError != "" {
		return difference("build_error", r.Expect.BuildError, got.BuildError)
	}
	if miss := r.CompareRuns(got); miss != "" {
		return miss
	}
	if miss := difference("interrupts_fired", r.Expect.InterruptsFired, got.InterruptsFired); miss != "" {
		return miss
	}
	return r.CompareFinal(got)
}

// CompareRuns compares the traces, calls and ends of all runs.
func (r *TaskFlowRecord) CompareRuns(got *TaskFlowOutcome) string {
	for i := range max(len(r.Expect.Runs), len(got.Runs)) {
		at := fmt.Sprintf("run %d", i)
		if i >= len(r.Expect.Runs) || i >= len(got.Runs) {
			return fmt.Sprintf("want %d runs, got %d", len(r.Expect.Runs), len(got.Runs))
		}
		if miss := r.compareRun(at, &r.Expect.Runs[i], &got.Runs[i]); miss != "" {
			return miss
		}
	}
	return ""
}

// CompareSequences compares what does not depend on the order: each atom's sequence of states, and the end of each run.
func (r *TaskFlowRecord) CompareSequences(got *TaskFlowOutcome) string {
	if miss := difference("states", tree(r.Expect.sequences()), tree(got.sequences())); miss != "" {
		return miss
	}
	return difference("ends", tree(r.Expect.ends()), tree(got.ends()))
}

func (r *TaskFlowRecord) compareRun(at string, want, got *TaskFlowRun) string {
	if miss := sameTrace(at, r.Case.Canonical(want.Trace), r.Case.Canonical(got.Trace)); miss != "" {
		return miss
	}
	for i := range max(len(want.Calls), len(got.Calls)) {
		at := fmt.Sprintf("%s call %d", at, i)
		switch {
		case i >= len(got.Calls):
			return fmt.Sprintf("%s: want %s, got nothing", at, short(want.Calls[i]))
		case i >= len(want.Calls):
			return fmt.Sprintf("%s: want nothing, got %s", at, short(got.Calls[i]))
		}
		if miss := r.compareCall(at, want.Calls[i], got.Calls[i]); miss != "" {
			return miss
		}
	}
	for _, field := range []struct {
		name      string
		want, got any
	}{
		{"op", want.Op, got.Op},
		{"crashed", want.Crashed, got.Crashed},
		{"flow", want.Flow, got.Flow},
		{"raised", want.Raised, got.Raised},
	} {
		if miss := difference(at+" "+field.name, tree(field.want), tree(field.got)); miss != "" {
			return miss
		}
	}
	return ""
}

func sameTrace(at string, want, got []TaskFlowChange) string {
	for i := range max(len(want), len(got)) {
		var w, g TaskFlowChange
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if !slices.Equal(w, g) {
			return fmt.Sprintf("%s trace %d: want %q, got %q", at, i, strings.Join(w, " "), strings.Join(g, " "))
		}
	}
	return ""
}

// compareCall compares a call. A revert may receive more failures than in TaskFlow, if they are of atoms that have
// failed.
func (r *TaskFlowRecord) compareCall(at string, want, got TaskFlowCall) string {
	for name, failure := range got.FlowFailures {
		if _, told := want.FlowFailures[name]; !told && r.hasFailed(name, failure) {
			all := map[string]string{name: failure}
			maps.Copy(all, want.FlowFailures)
			want.FlowFailures = all
		}
	}
	return difference(at+" of "+want.Atom, tree(want), tree(got))
}

// hasFailed reports whether the record has this failure of an atom: as its last failure, as raised, or in the tries of
// a retry.
func (r *TaskFlowRecord) hasFailed(atom, failure string) bool {
	if r.Expect.Final.Atoms[atom].Failure == failure {
		return true
	}
	for i := range r.Expect.Runs {
		run := &r.Expect.Runs[i]
		for _, call := range run.Calls {
			if strings.Contains(string(call.History), failure) || call.Atom == atom &&
				strings.Contains(string(call.Result), failure) {
				return true
			}
		}
		if slices.Contains(run.Raised, failure) {
			return true
		}
	}
	return false
}

// CompareFinal compares only the final stored state.
func (r *TaskFlowRecord) CompareFinal(got *TaskFlowOutcome) string {
	want := r.Expect.Final
	want.Symbols = maps.Clone(want.Symbols)
	for name, values := range want.Symbols {
		want.Symbols[name] = slices.DeleteFunc(slices.Clone(values), isFailure)
		if len(want.Symbols[name]) == 0 {
			delete(want.Symbols, name)
		}
	}
	return difference("final", tree(want), tree(got.Final))
}

func isFailure(value json.RawMessage) bool { return strings.HasPrefix(string(value), `{"$failure":`) }

// tree returns the value of v's JSON.
func tree(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return decoded(text)
}

// CompareFacts compares what does not depend on the order: the stored records, each atom's sequence of states, and the
// end of each run.
func (r *TaskFlowRecord) CompareFacts(got *TaskFlowOutcome) string {
	if miss := r.CompareFinal(got); miss != "" {
		return miss
	}
	return r.CompareSequences(got)
}

// sequences returns the states of each atom, in order.
func (o *TaskFlowOutcome) sequences() map[string][]string {
	all := map[string][]string{}
	for i := range o.Runs {
		for _, change := range o.Runs[i].Trace {
			if atom := change.Atom(); atom != "" {
				all[atom] = append(all[atom], strings.Join(change[2:], ">"))
			}
		}
	}
	return all
}

// ends returns the end of each run.
func (o *TaskFlowOutcome) ends() []any {
	var all []any
	for i := range o.Runs {
		all = append(all, []any{o.Runs[i].Flow, o.Runs[i].Raised})
	}
	return all
}
