package rules

import "github.com/ebbflow/ebb/storage"

// A Meter is how many jobs have been claimed, as rates count them: see [storage.Limit].
type Meter struct {
	rates []storage.Limit
	spent map[place]int
}

// NewMeter returns what the rates among these limits count when nothing was
// claimed; nil when there are no rates.
func NewMeter(limits []storage.Limit) *Meter {
	var m *Meter
	for _, l := range limits {
		if l.Rate == 0 {
			continue
		}
		if m == nil {
			m = &Meter{spent: map[place]int{}}
		}
		m.rates = append(m.rates, l)
	}
	return m
}

// Spend counts jobs that were claimed under a rate, by the flow and the label of
// that and the label's value. One that is no more counts nothing.
func (m *Meter) Spend(flow, label, value string, jobs int) {
	for i := range m.rates {
		if l := &m.rates[i]; l.Flow == flow && l.Label == label {
			m.spent[place{i, value}] += jobs
		}
	}
}

// A Metered is what counts a claim: a rate, and the value of its label.
type Metered struct {
	Rate  storage.Limit
	Value string
}

// Admit counts the claim of a job and returns by what, or false, and counts
// nothing, when one of the rates lets no further one in for now.
func (m *Meter) Admit(j *storage.Job) ([]Metered, bool) {
	if m == nil {
		return nil, true
	}
	var by []Metered
	var places []place
	for i := range m.rates {
		l := &m.rates[i]
		value, has := "", true
		if l.Label != "" {
			value, has = labelOf(j, l.Label)
		}
		if l.Flow != "" && l.Flow != j.Flow || !has {
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

// Full returns the flows of which no further job may be claimed for now, whatever
// its labels; all when that is so of every flow.
func (m *Meter) Full() (flows []string, all bool) {
	if m == nil {
		return nil, false
	}
	for i := range m.rates {
		l := &m.rates[i]
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
