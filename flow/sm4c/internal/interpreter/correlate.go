package interpreter

import (
	"maps"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// Ebb finds a run by the values of its correlations. These values are labels of the run, set in the commit that
// changes them, as long as the run lasts.

// known contains the values on which correlations depend, as they were when the interpreter started.
type known struct {
	data  *jsonValue
	keys  map[string]string
	until func() bool // see [grow.Ask.Interrupted]
}

// noteKnown stores these values before the interpreter changes the run's memory.
func (w *interpreter) noteKnown() {
	w.before = known{w.run.data, maps.Clone(w.run.keys), w.ask.Interrupted}
}

// label sets and deletes the labels that have changed.
func (w *interpreter) label() {
	if !w.machine.Correlates || w.run == nil {
		return
	}
	begun := w.ask.Cause.Kind == grow.Begin && w.branch == nil
	ended := w.over && w.branch == nil
	if !begun && !ended && w.before.data == w.run.data && len(w.before.keys) == len(w.run.keys) {
		return
	}
	was, is := map[string]bool{}, map[string]bool{}
	if !begun {
		was = topics(w.machine, w.before)
	}
	if !ended {
		is = topics(w.machine, known{w.run.data, w.run.keys, w.ask.Interrupted})
	}
	labels := map[string]string{}
	for topic := range was {
		if !is[topic] {
			labels[topic] = ""
		}
	}
	for topic := range is {
		if !was[topic] {
			labels[topic] = grow.Correlated
		}
	}
	if len(labels) > 0 {
		w.growth.Labels = labels
	}
}

// topics returns the labels for the values that awaited events must have, as far as these are known.
func topics(m *syntax.Machine, k known) map[string]bool {
	topics := map[string]bool{}
	for _, d := range m.Awaited {
		for _, c := range d.Correlation {
			if value, ok := wants(c, k); ok {
				topics[grow.CorrelationLabel(c.Attribute, value)] = true
			}
		}
	}
	return topics
}

// wants returns the value that an event must have. If the expression has no value, the run fails when an event is
// matched, not here.
func wants(c *syntax.Correlation, k known) (string, bool) {
	if c.Value == nil {
		value, ok := k.keys[c.Attribute]
		return value, ok
	}
	if k.data == nil {
		return "", false
	}
	data, f := k.data.value()
	if f != nil {
		return "", false
	}
	value, f := c.Value.Resolve(k.until, data)
	text, ok := value.(string)
	return text, ok && f == nil
}

// contradicts reports whether an event can never match a definition, because the run's key differs and no longer
// changes.
func (w *interpreter) contradicts(d *syntax.Event, e map[string]any) bool {
	for _, k := range d.Correlation {
		if want, set := w.mem.keys[k.Attribute]; set && k.Value == nil {
			if has, _ := extension(e, k.Attribute); has != want {
				return true
			}
		}
	}
	return false
}
