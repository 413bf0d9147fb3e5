package storage

// RunText is a text of a run that a [RunTerm] is about.
type RunText uint8

// The texts of a run.
const (
	TextID         RunText = iota // Run.ID
	TextFlow                      // Run.Flow
	TextParent                    // Run.Parent
	TextDefinition                // Run.Definition
	TextCode                      // Run.Failure.Code
	TextLabel                     // value of the label RunTerm.Key
)

// A RunTerm is a condition on a text of a run. A run that has no such text, such as a run without the label, meets no
// condition. Of an empty text that is no label's value, this is so too.
type RunTerm struct {
	Of     RunText
	Key    string   // key of the label, if Of is TextLabel
	Is     []string // the text is one of these,
	Begins []string // or begins with one of these
	Not    bool     // the condition must not hold
}
