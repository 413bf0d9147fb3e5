package interpreter

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// UpdateMapRun is asl.UpdateMapRun.
const UpdateMapRun = "UpdateMapRun"

// A MapRunUpdate is asl.MapRunUpdate.
type MapRunUpdate struct {
	MaxConcurrency      *int64   `json:"maxConcurrency,omitempty"`
	ToleratedCount      *int64   `json:"toleratedFailureCount,omitempty"`
	ToleratedPercentage *float64 `json:"toleratedFailurePercentage,omitempty"`
}

// updated gives the map run other limits. They apply from now on: running children continue.
func (r *mapRun) updated(cause *grow.Cause) {
	var u MapRunUpdate
	if cause.Message != grow.MessageSignal || cause.Name != UpdateMapRun || cause.Result.Decode(&u) != nil {
		return
	}
	l := &r.set.mapLimits
	if u.MaxConcurrency != nil && *u.MaxConcurrency >= 0 {
		l.setSlots(*u.MaxConcurrency)
	}
	if u.ToleratedCount != nil && *u.ToleratedCount >= 0 {
		l.Count = *u.ToleratedCount
	}
	if u.ToleratedPercentage != nil && *u.ToleratedPercentage >= 0 && *u.ToleratedPercentage <= 100 {
		l.Percentage = *u.ToleratedPercentage
	}
	r.Limits = *l
	if r.Open > 0 || r.Reading || r.Redoes { // otherwise it writes its results
		r.goOn(nil)
	}
}

// A MapRun is asl.MapRun.
type MapRun struct {
	ID                  string  // unique among all map runs
	MaxConcurrency      int     // maximum number of concurrent executions; 0 means that the state sets none
	ToleratedCount      int64   // number of items that may fail
	ToleratedPercentage float64 // percentage of items that may fail
	Batches             bool    // an execution may process several items
	Writes              bool    // the results are written to a bucket

	Ended      time.Time // when it ended; zero if it has not, or if something else ended it
	Failed     bool      // it ended with an error
	Redrives   int       // how often it was redriven
	Redriven   time.Time // when it was last redriven; zero if it was not
	Executions MapRunCounts
	Items      MapRunCounts
}

// MapRunCounts is asl.MapRunCounts.
type MapRunCounts struct {
	Pending        int64 // known, and not started
	Open           int64 // started, and not ended
	Succeeded      int64
	Unsuccessful   int64 // ended in another way, without those that wait to be redriven
	PendingRedrive int64 // wait to be started again
	NotRedrivable  int64 // of Unsuccessful, those that can never be redriven
}

// MapRunOf is asl.MapRunOf.
func MapRunOf(fork, memory atom.Value) (m MapRun, ok bool) {
	var p mapProgress
	s, err := readShared(fork)
	if err != nil || s.run == nil || memory.Decode(&p) != nil {
		return m, false
	}
	l := s.run.mapLimits
	if p.Limits != (mapLimits{}) {
		l = p.Limits
	}
	m = MapRun{
		ID: s.run.ID, MaxConcurrency: l.Slots, ToleratedCount: l.Count, ToleratedPercentage: l.Percentage,
		Batches: s.run.Batches, Writes: s.run.Target != nil, Ended: p.Ended, Failed: p.Failing, Redrives: p.Redrives,
		Redriven: p.Redriven,
	}
	if l.Default {
		m.MaxConcurrency = 0
	}
	m.Executions, m.Items = p.counts(s)
	return m, true
}

// counts returns how many children a map run has, and how many items they have.
func (p *mapProgress) counts(s *Shared) (children, items MapRunCounts) {
	items = MapRunCounts{
		Open: p.Held, Succeeded: p.Well.Items, PendingRedrive: p.Again.Items, NotRedrivable: p.Final.Items,
		Unsuccessful: p.Items - p.Held - p.Well.Items - p.Again.Items,
	}
	children = MapRunCounts{
		Open: int64(p.Open), Succeeded: int64(p.Well.Children), PendingRedrive: int64(p.Again.Children),
		NotRedrivable: int64(p.Final.Children), Unsuccessful: int64(p.Begun - p.Open - p.Well.Children - p.Again.Children),
	}
	if s.run.Reader != nil { // the number of further items is known only when they are read
		return children, items
	}
	list, _ := s.entries()
	items.Pending = max(0, int64(len(list))-p.Items)
	switch children.Pending = items.Pending; {
	case s.run.PerBatch > 0:
		children.Pending = (items.Pending + s.run.PerBatch - 1) / s.run.PerBatch
	case s.run.Batches:
		children.Pending = min(items.Pending, 1) // the number of items that fit is known only when they are read
	}
	return children, items
}
