package asl

import "github.com/ebbflow/ebb/internal/jsontext"

import "time"

// A compiler makes a machine of a definition that was checked: it relies on what
// the checker noted in the nodes, and has nothing to report.
type compiler struct {
	profile Profile
	states  map[string]*state
}

// A level is one States object: the machine itself, a branch of a Parallel
// state, or what a Map state does with each item.
type level struct {
	start *state
	owner *state // the Parallel or Map state it belongs to; nil at the top
	names []string
	here  map[string]*state
}

func (c *compiler) machine(root *node) *Machine {
	return &Machine{
		profile: c.profile,
		timeout: time.Duration(jsontext.Meaning[int64](root.Get("TimeoutSeconds"))) * time.Second,
		top:     c.level(root, nil),
		states:  c.states,
	}
}

// level compiles an object with StartAt and States.
func (c *compiler) level(n *node, owner *state) *level {
	l := &level{owner: owner, here: map[string]*state{}}
	list := n.Get("States")
	for _, m := range list.Members {
		if m.Value.Kind != jsontext.Object {
			continue // a QueryLanguage that belongs beside States
		}
		s := &state{name: m.Name, source: m.Value, level: l}
		l.here[m.Name], c.states[m.Name] = s, s
		l.names = append(l.names, m.Name)
	}
	for _, name := range l.names {
		c.state(l.here[name])
	}
	l.start = l.target(n, "StartAt")
	l.loops()
	return l
}

// target returns the state that a field names, nil if it is not there.
func (l *level) target(n *node, field string) *state {
	if v := n.Get(field); v != nil {
		return l.here[v.Str]
	}
	return nil
}
