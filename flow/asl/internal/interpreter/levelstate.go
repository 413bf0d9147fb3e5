package interpreter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A levelState is the stored state of a level while it waits for its open node. Its form is JSON with short names,
// so that a person can read it in the store. Values in it are copied as text, and never decoded.
type levelState struct {
	state   string         // "s": the visited state
	entered int64          // "e": number of the event for entering it
	at      time.Time      // "t": time of that event
	last    int64          // "p": number of the event from which the next one follows
	tries   []int          // "r": how often each retrier was used in this visit
	visits  map[string]int // "n": number of visits of states that have nodes and can be visited again
	used    int            // "k": number of nodes that the visit had before it was redriven
	// "d": number of the execution's redrive that started the visit again
	redrives int
	paused   bool              // "w": the node only waits until the state starts again
	intent   *intent           // "u": how to continue after something was undone
	through  *progress         // "y": progress through the state's levels
	child    *startedExecution // "x": the execution that the state has started
	input    *data.Value       // "i": raw input of the state; nil if it is no longer needed
}

func (n *levelState) encode() atom.Value {
	w := jsontext.NewWriter(atom.CodecJSON)
	w.Text("s", n.state)
	w.Int("e", n.entered)
	w.Time("t", n.at)
	w.Int("p", n.last)
	w.List("r", len(n.tries), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(n.tries[i]), 10) })
	if len(n.visits) > 0 {
		counts := jsontext.NewWriter()
		for _, name := range slices.Sorted(maps.Keys(n.visits)) {
			counts.Int(name, int64(n.visits[name]))
		}
		w.Raw("n", counts.Bytes())
	}
	if n.used > 0 {
		w.Int("k", int64(n.used))
	}
	if n.redrives > 0 {
		w.Int("d", int64(n.redrives))
	}
	if n.paused {
		w.Int("w", 1)
	}
	if n.intent != nil {
		w.Raw("u", n.intent.encode())
	}
	if n.through != nil {
		w.Raw("y", n.through.encode())
	}
	if n.child != nil {
		w.Raw("x", atom.MustEncode(n.child).JSON())
	}
	w.Raw("i", n.input.JSON())
	return atom.Value(w.Bytes())
}

func (t *intent) encode() []byte {
	w := jsontext.NewWriter()
	w.Int("c", int64(t.catcher))
	w.Text("e", t.name)
	w.Text("q", t.cause)
	if t.bare {
		w.Int("b", 1)
	}
	w.Time("d", t.due)
	return w.Bytes()
}

func readIntent(r *jsontext.Reader) (*intent, error) {
	t := &intent{}
	err := r.Members(func(name string) (err error) {
		var n int64
		switch name {
		case "c":
			n, err = r.Int()
			t.catcher = int(n)
		case "e":
			t.name, err = r.String()
		case "q":
			t.cause, err = r.String()
		case "b":
			n, err = r.Int()
			t.bare = n == 1
		case "d":
			t.due, err = r.Time()
		default:
			r.Skip()
		}
		return err
	})
	return t, err
}

func readNote(v atom.Value) (*levelState, error) {
	n := &levelState{visits: map[string]int{}}
	r := jsontext.NewReader(v.JSON())
	err := r.Members(func(name string) (err error) {
		switch name {
		case "s":
			n.state, err = r.String()
		case "e":
			n.entered, err = r.Int()
		case "t":
			n.at, err = r.Time()
		case "p":
			n.last, err = r.Int()
		case "r":
			err = r.Elements(func() error {
				tries, err := r.Int()
				n.tries = append(n.tries, int(tries))
				return err
			})
		case "n":
			err = r.Members(func(state string) error {
				visits, err := r.Int()
				n.visits[state] = int(visits)
				return err
			})
		case "k", "d":
			var count int64
			if count, err = r.Int(); name == "k" {
				n.used = int(count)
			} else {
				n.redrives = int(count)
			}
		case "w":
			n.paused = true
			r.Skip()
		case "u":
			n.intent, err = readIntent(r)
		case "y":
			n.through, err = readProgress(r)
		case "x":
			n.child = &startedExecution{}
			err = json.Unmarshal(r.Skip(), n.child)
		case "i":
			n.input = data.Read(r)
		default:
			r.Skip()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asl: broken note: %w", err)
	}
	return n, nil
}

// Shared is the data that a Parallel or Map state shares with its inner levels. Members that may be large come
// last.
type Shared struct {
	state   string                 // "s": the state of these levels
	entered int64                  // "e": number of the event for entering it
	at      time.Time              // "t": time of that event
	started int64                  // "p": number of the event for its start
	slots   int                    // "c": of a Map: how many iterations may run concurrently; 0 for any number
	Outer   map[string]*data.Value // "v": the visible variables
	item    *data.Value            // "m": of a Parallel inside a Map: the Map's context
	run     *mapSettings           // "d": of a distributed Map
	items   *data.Value            // "x": of a Map: the array of its items
	list    [][]byte               // the items, after the first use
	keys    []string               // names of the items, if they are members of an object
	input   *data.Value            // "i": input of each branch; of a Map: input of ItemSelector

	// Number of the last event of the iteration that ended last, from which the next one follows on AWS. It is not
	// stored: after a crash, one iteration follows from the start of the Map.
	freed int64
}

func (s *Shared) encode() atom.Value {
	w := jsontext.NewWriter(atom.CodecJSON)
	w.Text("s", s.state)
	w.Int("e", s.entered)
	w.Time("t", s.at)
	w.Int("p", s.started)
	if s.slots > 0 {
		w.Int("c", int64(s.slots))
	}
	if len(s.Outer) > 0 {
		w.Raw("v", data.WriteMembers(jsontext.NewWriter(), s.Outer).Bytes())
	}
	w.Raw("m", s.item.JSON())
	if s.run != nil {
		w.Raw("d", atom.MustEncode(s.run).JSON())
	}
	w.Raw("x", s.items.JSON())
	w.Raw("i", s.input.JSON())
	return atom.Value(w.Bytes())
}

// element returns an item of a Map.
func (s *Shared) element(i int) (atom.Value, bool) {
	list, _ := s.entries()
	if i < 0 || i >= len(list) {
		return nil, false
	}
	return atom.FromJSON(list[i]), true
}

// entries returns the items: the elements of an array, or the members of an object with their names. It decodes the
// text once.
func (s *Shared) entries() (list [][]byte, keys []string) {
	if s.list != nil {
		return s.list, s.keys
	}
	s.list = [][]byte{}
	text := bytes.TrimSpace(s.items.JSON())
	r := jsontext.NewReader(text)
	var err error
	if bytes.HasPrefix(text, []byte("{")) {
		err = r.Members(func(name string) error {
			s.list, s.keys = append(s.list, r.Skip()), append(s.keys, name)
			return nil
		})
	} else {
		err = r.Elements(func() error { s.list = append(s.list, r.Skip()); return nil })
	}
	if err != nil { // a broken group has no items
		s.list, s.keys = [][]byte{}, nil
	}
	return s.list, s.keys
}

func readShared(v atom.Value) (*Shared, error) {
	s := &Shared{}
	r := jsontext.NewReader(v.JSON())
	err := r.Members(func(name string) (err error) {
		switch name {
		case "s":
			s.state, err = r.String()
		case "e":
			s.entered, err = r.Int()
		case "t":
			s.at, err = r.Time()
		case "p":
			s.started, err = r.Int()
		case "c":
			var slots int64
			slots, err = r.Int()
			s.slots = int(slots)
		case "v":
			s.Outer, err = data.ReadMembers(r)
		case "m":
			s.item = data.Read(r)
		case "d":
			s.run = &mapSettings{}
			err = json.Unmarshal(r.Skip(), s.run)
		case "x":
			s.items = data.Read(r)
		case "i":
			s.input = data.Read(r)
		default:
			r.Skip()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asl: broken group: %w", err)
	}
	return s, nil
}
