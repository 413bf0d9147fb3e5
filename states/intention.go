package states

// Intention is what the engine wants of an atom next. It is no state: it has no
// table, any intention may replace any other.
type Intention uint8

// The intentions of TaskFlow. The zero value is IntendExecute.
const (
	// IntendExecute wants the atom's execute to run.
	IntendExecute Intention = iota
	// IntendRevert wants what the atom did to be undone.
	IntendRevert
	// IntendRetry wants a retry's subflow undone and then run again; only
	// retries have it.
	IntendRetry
	// IntendIgnore wants the atom left out; a decider said so.
	IntendIgnore
)

var intentionNames = vocabulary{"intention", []string{"EXECUTE", "REVERT", "RETRY", "IGNORE"}}

// String returns TaskFlow's spelling, for example "EXECUTE".
func (i Intention) String() string { return intentionNames.text(uint8(i)) }

// MarshalText returns the same text as String, or ErrUnknown for a number that
// names no intention.
func (i Intention) MarshalText() ([]byte, error) { return intentionNames.marshal(uint8(i)) }

// UnmarshalText accepts what MarshalText wrote. Any other text is refused with
// ErrUnknown and a list of the legal ones, and leaves i as it was.
func (i *Intention) UnmarshalText(text []byte) error {
	return intentionNames.unmarshal(text, (*uint8)(i))
}
