package rules

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A Meter counts claimed jobs as rates count them, see [storage.Limit].
type Meter struct {
	index

	spent map[place]int
}

// NewMeter returns a Meter for the rates among these limits, with all counts zero; nil if there are no rates.
func NewMeter(limits []storage.Limit) *Meter {
	rates := slices.DeleteFunc(slices.Clone(limits), func(l storage.Limit) bool { return l.Rate == 0 })
	if len(rates) == 0 {
		return nil
	}
	return &Meter{newIndex(rates), map[place]int{}}
}

// Spend counts jobs that were claimed under a rate, which flow and label identify, with that value of the label. If
// the rate no longer exists, Spend counts nothing.
func (m *Meter) Spend(flow, label, value string, jobs int) {
	for i, l := range m.each(flow) {
		if l.Flow == flow && l.Label == label {
			m.spent[place{i, value}] += jobs
		}
	}
}

// A Metered is a rate that counts a claim, with the value of its label.
type Metered struct {
	Rate  storage.Limit
	Value string
}

// Admit counts the claim of a job and returns the rates that count it. If one of the rates is used up, Admit counts
// nothing and returns false.
func (m *Meter) Admit(j *storage.Job) ([]Metered, bool) {
	if m == nil {
		return nil, true
	}
	var by []Metered
	var places []place
	for i, l := range m.each(j.Flow) {
		value, has := "", true
		if l.Label != "" {
			value, has = labelOf(j, l.Label)
		}
		if !has {
			continue
		}
		p := place{i, value}
		if m.spent[p] >= l.Rate {
			return nil, false
		}
		by, places = append(by, Metered{*l, value}), append(places, p)
	}
	for _, p := range places {
		m.spent[p]++
	}
	return by, true
}

// A Spent is a number of jobs that were claimed at the same time.
type Spent struct {
	At   time.Time
	Jobs int
}

// Next returns the rate that keeps a job from being claimed, and when it allows the job; nil if no rate does. Claims
// returns those that a rate counts now, the oldest first. Of several rates, Next returns the one that allows the job
// last.
func (m *Meter) Next(j *storage.Job, claims func(*Metered) ([]Spent, error)) (last *storage.LimitedError, err error) {
	if m == nil {
		return nil, nil //nolint:nilnil // documented
	}
	for i, l := range m.each(j.Flow) {
		value, has := "", true
		if l.Label != "" {
			value, has = labelOf(j, l.Label)
		}
		used := m.spent[place{i, value}]
		if !has || used < l.Rate {
			continue
		}
		spent, err := claims(&Metered{*l, value})
		if err != nil {
			return nil, err
		}
		full := &storage.LimitedError{Run: j.ID, Limit: *l, Value: value, Used: used}
		for left, k := used, 0; k < len(spent) && left >= l.Rate; k++ {
			left -= spent[k].Jobs
			full.Next = spent[k].At.Add(l.Per)
		}
		if last == nil || full.Next.After(last.Next) {
			last = full
		}
	}
	return last, nil
}

// Full returns the flows whose rates are used up, whatever the labels of a job; all is true if this holds for every
// flow.
func (m *Meter) Full() (flows []string, all bool) {
	if m == nil {
		return nil, false
	}
	for i := range m.limits {
		l := &m.limits[i]
		if l.Label != "" || m.spent[place{i, ""}] < l.Rate {
			continue
		}
		if l.Flow == "" {
			return nil, true
		}
		flows = append(flows, l.Flow)
	}
	return flows, false
}
