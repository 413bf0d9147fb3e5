package rules

import "github.com/ebbflow/ebb/storage"

// A Meter counts claimed jobs as rates count them, see [storage.Limit].
type Meter struct {
	rates []storage.Limit
	spent map[place]int
}

// NewMeter returns a Meter for the rates among these limits, with all counts zero; nil if there are no rates.
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

// Spend counts jobs that were claimed under a rate, which flow and label identify, with that value of the label. If
// the rate no longer exists, Spend counts nothing.
func (m *Meter) Spend(flow, label, value string, jobs int) {
	for i := range m.rates {
		if l := &m.rates[i]; l.Flow == flow && l.Label == label {
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

// Full returns the flows whose rates are used up, whatever the labels of a job; all is true if this holds for every
// flow.
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
