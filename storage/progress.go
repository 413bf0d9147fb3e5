package storage

// A Progress is what a run needs to continue, and so what it may wait for, see [Lists.InProgress].
type Progress struct {
	Atoms  []Atom     // the live atoms, ordered by path; values that are payloads are not filled in
	Tokens []Token    // the open tokens
	Timers []TimerRow // the timers that have not fired
}
