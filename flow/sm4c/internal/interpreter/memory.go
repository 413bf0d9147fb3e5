package interpreter

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// stage is the stage of a machine in a state.
type stage uint8

const (
	entering stage = iota // the enterAction
	deciding              // choosing the transition to take
	waiting               // waiting for events, or for the time of a transition
	moving                // running the action of a transition
	leaving               // the exitAction
	expiring              // running the action of the execution timeout
	calling               // the run only calls a function
)

var stageNames = [...]string{
	entering: "entering", deciding: "deciding", waiting: "waiting", moving: "moving", leaving: "leaving",
	expiring: "expiring", calling: "calling",
}

// String returns the stage as memories spell it.
func (s stage) String() string { return stageNames[s] }

// A memory is the stored state of a waiting flow. For the run's own flow it contains everything about the machine,
// for a branch the progress of its action. Its form is JSON with short names, so that a person can read it in the
// store. Values in it are copied as text, and decoded only when they are needed.
type memory struct {
	state      string            // "s": the name of the state
	stage      stage             // "g"
	transition int               // "t": the transition that is being taken
	wait       string            // "w": the node that ends when the time of a transition has passed
	due        time.Time         // "u": when that node ends
	steps      int               // "l": number of transitions since the last wait
	mark       string            // "h": digest of the memory at an earlier transition, see repeats
	marked     int               // "e": number of that transition
	frames     []frame           // "f": the running actions, outermost first
	visits     map[string]int    // "n": number of nodes so far, by name
	keys       map[string]string // "k": keys with which events are correlated
	inbox      []message         // "b": events that no transition has consumed
	result     *jsonValue        // "r": result of a branch that ended at once and whose end is postponed
	fault      []byte            // "x": error of such a branch
	input      *jsonValue        // "i": input that the actions see; nil if it is the view
	view       *jsonValue        // "v": data that the state sees; nil if it is all data
	data       *jsonValue        // "d": data of the machine
}

// A frame is a running action.
type frame struct {
	action  int       // "a": number of the action
	child   int       // "c": of a sequence: index of the running child
	results [][]byte  // "r": of a sequence: members of its result, from children that have ended
	tries   int       // "t": number of retries
	node    string    // "o": node that it waits for
	timer   string    // "m": of a call: node that ends when the wait for the call is over
	role    role      // "k": role of that node
	begun   time.Time // "b": when the node was added
	pending bool      // "p": the action has not started
}

// role is the role of a node for its action.
type role uint8

const (
	itself role = iota // the action's own call or timer
	pause              // the pause before a retry
)

// A message is an event in the inbox.
type message struct {
	json []byte
	tree map[string]any // nil until it is decoded
}

// encode returns the stored form of the memory.
func (m *memory) encode() (atom.Value, *stateerror.Error) {
	w := jsontext.NewWriter(atom.CodecJSON)
	w.Text("s", m.state)
	if m.state != "" || m.stage != entering {
		w.Text("g", m.stage.String())
	}
	w.Int("t", int64(m.transition))
	w.Text("w", m.wait)
	w.Time("u", m.due)
	w.Int("l", int64(m.steps))
	w.Text("h", m.mark)
	w.Int("e", int64(m.marked))
	w.List("f", len(m.frames), func(b []byte, i int) []byte { return append(b, m.frames[i].encode()...) })
	names := slices.Sorted(maps.Keys(m.visits))
	if len(names) > 0 {
		counts := jsontext.NewWriter()
		for _, name := range names {
			counts.Int(name, int64(m.visits[name]))
		}
		w.Raw("n", counts.Bytes())
	}
	if len(m.keys) > 0 {
		keys := jsontext.NewWriter()
		for _, name := range slices.Sorted(maps.Keys(m.keys)) {
			keys.Raw(name, jsontext.AppendString(nil, m.keys[name]))
		}
		w.Raw("k", keys.Bytes())
	}
	w.List("b", len(m.inbox), func(b []byte, i int) []byte { return append(b, m.inbox[i].json...) })
	w.Raw("x", m.fault)
	for _, d := range []struct {
		name      string
		jsonValue *jsonValue
	}{{"r", m.result}, {"i", m.input}, {"v", m.view}, {"d", m.data}} {
		if d.jsonValue == nil {
			continue
		}
		text, f := d.jsonValue.text()
		if f != nil {
			return nil, f
		}
		w.Raw(d.name, text)
	}
	return atom.Value(w.Bytes()), nil
}

func (f *frame) encode() []byte {
	w := jsontext.NewWriter()
	w.Int("a", int64(f.action)+1)
	w.Int("c", int64(f.child))
	w.Int("t", int64(f.tries))
	w.Text("o", f.node)
	w.Text("m", f.timer)
	w.Int("k", int64(f.role))
	w.Time("b", f.begun)
	w.True("p", f.pending)
	if len(f.results) > 0 {
		w.Raw("r", objectOf(f.results))
	}
	return w.Bytes()
}

// readMemory decodes a stored memory.
func readMemory(v atom.Value) (*memory, error) {
	m := &memory{visits: map[string]int{}, keys: map[string]string{}}
	if len(v) == 0 {
		return m, nil
	}
	r := jsontext.NewReader(v.JSON())
	err := r.Members(func(name string) (err error) {
		switch name {
		case "s":
			m.state, err = r.String()
		case "g":
			err = m.readStage(r)
		case "t":
			m.transition, err = integer(r)
		case "w":
			m.wait, err = r.String()
		case "u":
			m.due, err = r.Time()
		case "l":
			m.steps, err = integer(r)
		case "h":
			m.mark, err = r.String()
		case "e":
			m.marked, err = integer(r)
		case "f":
			err = r.Elements(func() error {
				f, err := readFrame(r)
				m.frames = append(m.frames, f)
				return err
			})
		case "n":
			err = r.Members(func(name string) (err error) {
				m.visits[name], err = integer(r)
				return err
			})
		case "k":
			err = r.Members(func(name string) (err error) {
				m.keys[name], err = r.String()
				return err
			})
		case "b":
			err = r.Elements(func() error {
				m.inbox = append(m.inbox, message{json: r.Skip()})
				return nil
			})
		case "x":
			m.fault = r.Skip()
		case "r":
			m.result = textValue(r.Skip())
		case "i":
			m.input = textValue(r.Skip())
		case "v":
			m.view = textValue(r.Skip())
		case "d":
			m.data = textValue(r.Skip())
		default:
			r.Skip()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sm4c: broken memory: %w", err)
	}
	return m, nil
}

func (m *memory) readStage(r *jsontext.Reader) error {
	name, err := r.String()
	for s, known := range stageNames {
		if name == known {
			m.stage = stage(s)
		}
	}
	return err
}

func readFrame(r *jsontext.Reader) (f frame, err error) {
	err = r.Members(func(name string) (err error) {
		switch name {
		case "a":
			f.action, err = integer(r)
			f.action--
		case "c":
			f.child, err = integer(r)
		case "t":
			f.tries, err = integer(r)
		case "o":
			f.node, err = r.String()
		case "m":
			f.timer, err = r.String()
		case "k":
			var n int
			n, err = integer(r)
			f.role = role(n)
		case "b":
			f.begun, err = r.Time()
		case "p":
			f.pending, err = r.Bool()
		case "r":
			err = r.Members(func(key string) error {
				f.results = append(f.results, member(key, r.Skip()))
				return nil
			})
		default:
			r.Skip()
		}
		return err
	})
	return f, err
}

// member returns a member of an object as JSON text.
func member(key string, value []byte) []byte {
	return append(append(jsontext.AppendString(nil, key), ':'), value...)
}

func integer(r *jsontext.Reader) (int, error) {
	n, err := r.Int()
	return int(n), err
}
