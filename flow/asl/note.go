package asl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A note is what a level remembers while it waits for the one node it has open.
// It is JSON with short names, so that a person can still read it in the store;
// values in it are copied as text, never decoded.
type note struct {
	state   string         // "s": which state is visited
	entered int64          // "e": number of the event that told of entering it
	at      time.Time      // "t": when that was
	last    int64          // "p": number of the event that the next one follows from
	tries   []int          // "r": how often each retrier was used in this visit
	visits  map[string]int // "n": how often each state was visited that has nodes
	input   *datum         // "i": the state's raw input; nil when nothing needs it any more
}

func (n *note) encode() atom.Value {
	b := make([]byte, 0, 128)
	b = append(b, atom.CodecJSON)
	b = append(b, `{"s":`...)
	b = appendString(b, n.state)
	b = append(b, `,"e":`...)
	b = strconv.AppendInt(b, n.entered, 10)
	b = append(b, `,"t":"`...)
	b = n.at.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","p":`...)
	b = strconv.AppendInt(b, n.last, 10)
	if len(n.tries) > 0 {
		b = append(b, `,"r":[`...)
		for i, tries := range n.tries {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(tries), 10)
		}
		b = append(b, ']')
	}
	b = append(b, `,"n":{`...)
	for i, name := range slices.Sorted(maps.Keys(n.visits)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = strconv.AppendInt(b, int64(n.visits[name]), 10)
	}
	b = append(b, '}')
	if n.input != nil {
		b = append(b, `,"i":`...)
		b = append(b, n.input.encoded().JSON()...)
	}
	return append(b, '}')
}

func readNote(v atom.Value) (*note, error) {
	n := &note{visits: map[string]int{}}
	r := &reader{text: v.JSON()}
	err := r.members(func(name string) (err error) {
		switch name {
		case "s":
			n.state, err = r.string()
		case "e":
			n.entered, err = r.integer()
		case "p":
			n.last, err = r.integer()
		case "t":
			n.at, err = r.time()
		case "r":
			for r.pos++; err == nil && !r.take(']'); r.take(',') {
				var tries int64
				tries, err = r.integer()
				n.tries = append(n.tries, int(tries))
			}
		case "n":
			err = r.members(func(state string) error {
				visits, err := r.integer()
				n.visits[state] = int(visits)
				return err
			})
		case "i":
			n.input = textDatum(atom.FromJSON(r.skip()))
		default:
			r.skip()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asl: broken note: %w", err)
	}
	return n, nil
}

func (r *reader) integer() (int64, error) {
	literal, err := r.number()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(literal, 10, 64)
}

func (r *reader) time() (time.Time, error) {
	text, err := r.string()
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, text)
}

// shared is what a Parallel or Map state tells the levels inside it. What may be
// large comes last.
type shared struct {
	state   string            // "s": whose levels these are
	entered int64             // "e": number of the event that told of entering it
	at      time.Time         // "t": when that was
	started int64             // "p": number of the event that told of its start
	outer   map[string]*datum // "v": the variables that can be seen
	item    *datum            // "m": of a Parallel inside a Map: the Map's context
	items   *datum            // "x": of a Map: the array of its items
	input   *datum            // "i": what each branch begins with; of a Map: what ItemSelector sees
}

func (s *shared) encode() atom.Value {
	b := make([]byte, 0, 256)
	b = append(b, atom.CodecJSON)
	b = append(b, `{"s":`...)
	b = appendString(b, s.state)
	b = append(b, `,"e":`...)
	b = strconv.AppendInt(b, s.entered, 10)
	b = append(b, `,"t":"`...)
	b = s.at.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","p":`...)
	b = strconv.AppendInt(b, s.started, 10)
	if len(s.outer) > 0 {
		b = append(b, `,"v":`...)
		b = appendVariables(b, s.outer)
	}
	for _, part := range []struct {
		name  string
		value *datum
	}{{"m", s.item}, {"x", s.items}, {"i", s.input}} {
		if part.value != nil {
			b = append(b, `,"`+part.name+`":`...)
			b = append(b, part.value.encoded().JSON()...)
		}
	}
	return append(b, '}')
}

func readShared(v atom.Value) (*shared, error) {
	s := &shared{}
	r := &reader{text: v.JSON()}
	err := r.members(func(name string) (err error) {
		switch name {
		case "s":
			s.state, err = r.string()
		case "e":
			s.entered, err = r.integer()
		case "t":
			s.at, err = r.time()
		case "p":
			s.started, err = r.integer()
		case "v":
			s.outer, err = r.variables()
		case "m":
			s.item = textDatum(atom.FromJSON(r.skip()))
		case "x":
			s.items = textDatum(atom.FromJSON(r.skip()))
		case "i":
			s.input = textDatum(atom.FromJSON(r.skip()))
		default:
			r.skip()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asl: broken group: %w", err)
	}
	return s, nil
}

// appendVariables appends an object of variables.
func appendVariables(b []byte, variables map[string]*datum) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(variables)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = append(b, variables[name].encoded().JSON()...)
	}
	return append(b, '}')
}

func (r *reader) variables() (map[string]*datum, error) {
	variables := map[string]*datum{}
	err := r.members(func(name string) error {
		variables[name] = textDatum(atom.FromJSON(r.skip()))
		return nil
	})
	return variables, err
}
