package memstore

import (
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A mourning counts the death of an owner in the runs that it owned.
type mourning struct {
	by      storage.Process
	at      time.Time
	runs    int // number of runs that it owned
	onTrial int // number of these runs that are on trial
}

// blame counts the death of the run's owner.
func (m *mourning) blame(r *storage.Run) {
	tried := r.Suspicion.Trial&storage.OnTrial != 0
	r.Suspicion.Trial &^= storage.OnTrial
	if m.onTrial > 0 && !tried {
		return
	}
	if m.at.Sub(r.Suspicion.Died) >= storage.LostWindow {
		r.Lost, r.Suspicion = 0, storage.Suspicion{}
	}
	r.Lost++
	r.Suspicion.Died, r.Suspicion.By = m.at, m.by
	if !tried {
		return
	}
	r.Lost = max(r.Lost, storage.SuspectLost)
	r.Suspicion.Trial = storage.Accused
	if m.onTrial == 1 {
		r.Suspicion.Proof += m.proves()
	}
}

// proves returns the proof that the death adds to the only run on trial.
func (m *mourning) proves() int64 {
	if m.runs == 1 {
		return storage.ProofAlone
	}
	return storage.ProofBeside
}
