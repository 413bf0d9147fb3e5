package asl

import (
	"fmt"
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
	visits  map[string]int // "n": how often each state was visited that has nodes and can be again
	input   *datum         // "i": the state's raw input; nil when nothing needs it any more
}

func (n *note) encode() atom.Value {
	var o object
	o.text("s", n.state)
	o.integer("e", n.entered)
	o.time("t", n.at)
	o.integer("p", n.last)
	o.integers("r", n.tries)
	o.counts("n", n.visits)
	o.datum("i", n.input)
	return o.value()
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
		case "t":
			n.at, err = r.time()
		case "p":
			n.last, err = r.integer()
		case "r":
			n.tries, err = r.integers()
		case "n":
			err = r.members(func(state string) error {
				visits, err := r.integer()
				n.visits[state] = int(visits)
				return err
			})
		case "i":
			n.input = r.datum()
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
	var o object
	o.text("s", s.state)
	o.integer("e", s.entered)
	o.time("t", s.at)
	o.integer("p", s.started)
	o.data("v", s.outer)
	o.datum("m", s.item)
	o.datum("x", s.items)
	o.datum("i", s.input)
	return o.value()
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
			s.outer, err = r.data()
		case "m":
			s.item = r.datum()
		case "x":
			s.items = r.datum()
		case "i":
			s.input = r.datum()
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

func (r *reader) integer() (int64, error) {
	literal, err := r.number()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(literal, 10, 64)
}

func (r *reader) integers() ([]int, error) {
	var all []int
	for r.pos++; !r.take(']'); r.take(',') {
		n, err := r.integer()
		if err != nil {
			return nil, err
		}
		all = append(all, int(n))
	}
	return all, nil
}

func (r *reader) time() (time.Time, error) {
	text, err := r.string()
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, text)
}

func (r *reader) datum() *datum { return textDatum(atom.FromJSON(r.skip())) }

func (r *reader) data() (map[string]*datum, error) {
	all := map[string]*datum{}
	err := r.members(func(name string) error {
		all[name] = r.datum()
		return nil
	})
	return all, err
}
