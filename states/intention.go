package states

// Intention is what the engine does with an atom next. It is not a state: it has no table, and any intention may
// replace any other.
type Intention uint8

// The intentions of TaskFlow. The zero value is IntendExecute.
const (
	// IntendExecute means to execute the atom.
	IntendExecute Intention = iota
	// IntendRevert means to undo the atom.
	IntendRevert
	// IntendRetry means to undo a retry's subflow and then run it again. Only retries have it.
	IntendRetry
	// IntendIgnore means to leave the atom out, as a decider says.
	IntendIgnore
)

var intentionNames = vocabulary{"intention", []string{"EXECUTE", "REVERT", "RETRY", "IGNORE"}}

// String returns TaskFlow's spelling, for example "EXECUTE".
func (i Intention) String() string { return intentionNames.text(uint8(i)) }

// MarshalText returns the same text as String, or ErrUnknown for a number without an intention.
func (i Intention) MarshalText() ([]byte, error) { return intentionNames.marshal(uint8(i)) }

// UnmarshalText accepts the output of MarshalText. For any other text, it returns ErrUnknown with a list of the legal
// ones, and does not change i.
func (i *Intention) UnmarshalText(text []byte) error {
	return intentionNames.unmarshal(text, (*uint8)(i))
}
