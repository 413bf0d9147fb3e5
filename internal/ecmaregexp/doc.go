// Package ecmaregexp matches the regular expressions of ECMAScript, which are
// those of JSONata: with look-around and back references, which Go's own have
// not.
//
//	re, err := ecmaregexp.Compile(`(\w+)@(?!example\.)`, "i")
//	...
//	budget := 100_000
//	at, err := re.Match(text, 0, &budget) // [start, end, start of group 1, …] or nil
//
// The syntax is that of the edition of 2018 without the flags u, s and y,
// Annex B included: what looks like a quantifier and is none is literal, and so
// is an escaped letter that means nothing. Two things differ: \s is a blank of
// ASCII, as in Step Functions, and texts are matched by characters, not by the
// halves of surrogate pairs. Flags are i (case does not matter, as
// ECMAScript folds it) and m (^ and $ match at lines).
//
// # Limits
//
// Matching backtracks, so a pattern such as (a+)+$ can take time that grows
// exponentially with the text. Every step is paid from the caller's budget;
// when it is used up Match returns [ErrBudget]. What is remembered to backtrack
// to is bounded too. A pattern has at most [MaxLength] bytes and compiles to at
// most [MaxProgram] instructions.
package ecmaregexp
