package storage

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A Message is durable input to a run, such as a signal. Any process may send one. The process that drives the run
// reads and processes it.
type Message struct {
	N           int64            // number in the inbox, given by the store; later messages have larger numbers
	Run         string           // id of the run; for a new message with ToKey it may be ""
	Kind        grow.MessageKind // kind of input
	Path        string           // path of the atom, or of the growing flow, that receives it; "" means the run
	Incarnation int              // incarnation of that atom
	Name        string           // name of the signal or event
	Key         string           // deduplication key: the run processes one message per key; "" means no deduplication
	Body        atom.Value       // value that the message carries
	Failure     *atom.Failure    // failure with which the token was ended; nil otherwise
	Sent        time.Time        // when the store received it
	// ToKey, in a new message, addresses the message to the run that holds this key, see [Run.Key]. If Run is set too,
	// it must be that run. It is "" in messages that a store returns.
	ToKey   string     `json:",omitempty"`
	From    string     `json:",omitempty"` // id of the run that sent the message; "" if no run did
	Receipt string     `json:",omitempty"` // name of the message that tells From what became of this one; "" for none
	Note    atom.Value `json:",omitempty"` // data of the sender, which the receipt returns; or of the end of a child run
	// Issuer is who gave the command that the message is. The history of the run says so when the run takes the
	// message. If it is nil, the history does not mention the message.
	Issuer *Issuer `json:",omitempty"`
}
