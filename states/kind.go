package states

// Kind is one of Flow, Task, Retry, Job and Engine: the kinds that have a
// transition table.
type Kind interface {
	~uint8
	// String returns the stored text of the state, such as "RUNNING".
	String() string
	table() *table
}

// All lists the states of a kind in numerical order.
func All[S Kind]() []S {
	var zero S
	all := make([]S, len(zero.table().names))
	for n := range all {
		all[n] = S(n)
	}
	return all
}
