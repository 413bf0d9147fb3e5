package memstore

import (
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A mourning counts the death of an owner in the runs that it owned.
type mourning struct {
	by       storage.Process
	at       time.Time
	runs     int // number of runs that it owned
	isolated int // number of these runs that are isolated
}

// blame counts the death of the run's owner.
func (m *mourning) blame(r *storage.Run) {
	tried := r.CrashLoop.Isolation&storage.Isolated != 0
	r.CrashLoop.Isolation &^= storage.Isolated
	if m.isolated > 0 && !tried {
		return
	}
	if m.at.Sub(r.CrashLoop.Died) >= backend.LostWindow {
		r.Lost, r.CrashLoop = 0, storage.CrashLoop{}
	}
	r.Lost++
	r.CrashLoop.Died, r.CrashLoop.By = m.at, m.by
	if !tried {
		return
	}
	r.Lost = max(r.Lost, backend.CrashLoopDeaths)
	r.CrashLoop.Isolation = storage.Blamed
	if m.isolated == 1 {
		r.CrashLoop.Proof += m.proves()
	}
}

// proves returns the proof that the death adds to the only isolated run.
func (m *mourning) proves() int64 {
	if m.runs == 1 {
		return backend.ProofAlone
	}
	return backend.ProofBeside
}
