package states_test

import (
	"testing"

	"github.com/ebbflow/ebb/states"
)

func BenchmarkCheckLegal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := states.Check(states.TaskRunning, states.TaskSuccess); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckIllegal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := states.Check(states.TaskPending, states.TaskSuccess); err == nil {
			b.Fatal("legal")
		}
	}
}

func BenchmarkCheckReset(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := states.CheckReset(states.TaskSuccess, states.TaskPending); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIgnored(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if !states.Ignored(states.FlowSuccess, states.FlowSuspended) {
			b.Fatal("not ignored")
		}
	}
}

func BenchmarkMachineEvent(b *testing.B) {
	machine := states.Machine(states.TaskPending)
	b.ReportAllocs()
	for b.Loop() {
		if err := machine.Event(b.Context(), "start"); err != nil {
			b.Fatal(err)
		}
		machine.SetState("PENDING")
	}
}
