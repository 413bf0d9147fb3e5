package grow

import "github.com/ebbflow/ebb/atom"

// A MessageKind says what a message brings to a run. The engine and the stores have kinds of their own beside these.
type MessageKind string

// The kinds of messages that any process may send to a run.
const (
	MessageSignal MessageKind = "signal" // Name is the name of the signal, Body its value
	MessageEvent  MessageKind = "event"  // Body is a CloudEvent in its JSON form
)

// A Message is sent by a flow: to another run through that run's inbox, or to a target
// outside the database through the outbox.
type Message struct {
	To    string      // id of the run; or the target, such as a URL; with ToKey it may be ""
	ToKey string      // the open run with this key, see engine.Key; with To, only if it is that run
	Kind  MessageKind // kind of the message
	Name  string      // name of the signal or event
	Key   string      // the receiver drops a second message with the same key; "" is a new, unique key
	Body  atom.Value  // the content
	// Receipt, if not "", makes the engine ask the sender once what became of the message, see [Receipt]. A run has
	// received a message when the answer of its language, or the atom that waited for it, is committed.
	Receipt string
	Note    atom.Value // with Receipt: the engine returns it with the cause
	// Stops says that the receiver ends by the message. So the engine ends the runs that it waits for, and those below
	// them: see [Child.Stop].
	Stops bool
}
