package sm4c

import (
	"maps"

	"github.com/ebbflow/ebb/flow"
)

// A run is found by the values of its correlations: they are labels of the run, set
// in the commit that changes them, as long as the run lasts.

// known is what correlations depend on, as it was when the interpreter started.
type known struct {
	data  *jsonValue
	keys  map[string]string
	until func() bool // see [flow.Ask.Interrupted]
}

// noteKnown keeps what the run's memory was before the interpreter changes it.
func (w *interpreter) noteKnown() {
	w.before = known{w.run.data, maps.Clone(w.run.keys), w.ask.Interrupted}
}

// label sets and takes away labels for what has changed.
func (w *interpreter) label() {
	if !w.machine.correlates || w.run == nil {
		return
	}
	begun := w.ask.Cause.Kind == flow.Begin && w.branch == nil
	ended := w.over && w.branch == nil
	if !begun && !ended && w.before.data == w.run.data && len(w.before.keys) == len(w.run.keys) {
		return
	}
	was, is := map[string]bool{}, map[string]bool{}
	if !begun {
		was = w.machine.topics(w.before)
	}
	if !ended {
		is = w.machine.topics(known{w.run.data, w.run.keys, w.ask.Interrupted})
	}
	labels := map[string]string{}
	for topic := range was {
		if !is[topic] {
			labels[topic] = ""
		}
	}
	for topic := range is {
		if !was[topic] {
			labels[topic] = flow.Correlated
		}
	}
	if len(labels) > 0 {
		w.growth.Labels = labels
	}
}

// topics returns the labels for what the awaited events must have, as far as that
// is known.
func (m *Machine) topics(k known) map[string]bool {
	topics := map[string]bool{}
	for _, d := range m.awaited {
		for _, c := range d.correlation {
			if value, ok := c.wants(k); ok {
				topics[flow.CorrelationLabel(c.attribute, value)] = true
			}
		}
	}
	return topics
}

// wants returns the value that an event must have. An expression without a
// value fails the run where an event is matched, not here.
func (c *correlation) wants(k known) (string, bool) {
	if c.value == nil {
		value, ok := k.keys[c.attribute]
		return value, ok
	}
	if k.data == nil {
		return "", false
	}
	data, f := k.data.value()
	if f != nil {
		return "", false
	}
	value, f := c.value.resolve(k.until, data)
	text, ok := value.(string)
	return text, ok && f == nil
}

// contradicts reports whether an event never matches a definition, because the
// run's key, which does not change any more, is another.
func (w *interpreter) contradicts(d *event, e map[string]any) bool {
	for _, k := range d.correlation {
		if want, set := w.mem.keys[k.attribute]; set && k.value == nil {
			if has, _ := extension(e, k.attribute); has != want {
				return true
			}
		}
	}
	return false
}
