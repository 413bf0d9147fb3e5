package states

// Class says whether TaskFlow or Ebb defines a legal transition.
type Class uint8

const (
	// TaskFlow marks a rule of OpenStack TaskFlow.
	TaskFlow Class = iota
	// Ebb marks a rule that a feature of Ebb needs.
	Ebb
)

// String returns "T" for TaskFlow and "E" for Ebb.
func (c Class) String() string {
	if c == TaskFlow {
		return "T"
	}
	return "E"
}

// Pair is one legal transition.
type Pair[S Kind] struct {
	From, To S      // states before and after
	Event    string // name of the event; From and it determine To
	Class    Class  // whether TaskFlow has it, too
	Feature  string // the feature of Ebb that needs the pair; empty for TaskFlow's
	Why      string // why the feature needs it; empty for TaskFlow's
}

// Pairs lists every legal transition of a kind in the order of its definition: TaskFlow's, then those of Ebb, feature
// by feature. They include those of the event Reset, which CheckReset allows. Check allows all others.
func Pairs[S Kind]() []Pair[S] {
	var zero S
	var pairs []Pair[S]
	for _, p := range zero.table().pairs {
		pairs = append(pairs, Pair[S]{
			From: S(p.from), To: S(p.to), Event: p.event,
			Class: p.rules.class(), Feature: p.rules.feature, Why: p.rules.why,
		})
	}
	return pairs
}
