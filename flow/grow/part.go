package grow

// A PartKind says what a [Part] of a definition is.
type PartKind uint8

// The kinds of the parts of a definition that a test can cover.
const (
	StatePart   PartKind = iota // a state, which a run enters
	ChoicePart                  // a rule or the Default of a choice, or a transition that is taken under a condition
	RetrierPart                 // a rule by which work that failed is tried again
	CatcherPart                 // a rule by which a failure is handled
)

// String returns the kind as a word: state, choice, retrier or catcher.
func (k PartKind) String() string { return [...]string{"state", "choice", "retrier", "catcher"}[k] }

// A Part is a state of a definition, or a choice, retrier or catcher of one. A run goes through some of the parts. Two
// parts of a machine are never equal.
type Part struct {
	Kind  PartKind // kind of the part
	State string   // name of the state that it is, or belongs to
	Label string   // for people: "rule 1", "Default", "Catch States.ALL"; "" for a state
	At    int      // where it stands in the definition's text, in bytes; -1 if in a document that the definition loads
}
