// Package jsonata evaluates the expressions of JSONata 2.0.6, the query language
// of the Amazon States Language beside JSONPath.
//
//	e, err := jsonata.Parse(`$sum($states.input.lines.(price * n))`)
//	...
//	v, err := e.Evaluate(&jsonata.Environment{Variable: variables, Now: now, Random: random})
//	...
//	text := v.AppendJSON(nil)
//
// An expression is compiled once and may then be evaluated by any number of
// goroutines. Data goes in by [Decode] and comes out by [Value.AppendJSON], and
// keeps the order of its members. The package is pure: the time and random bits
// come with the environment, so an evaluation given the same gives the same.
//
// # The language
//
// What an expression means, and the code and message of every error, is as the
// reference implementation has it (jsonata-js, see LICENSE-jsonata); its suite is
// run as TestConformanceJSONata. As in the States Language there is no $eval, and
// there are $hash, $parse, $partition, $random with a seed, $range and $uuid.
//
// Departures: half a character beyond U+FFFF cannot be cut from the other half,
// regular expressions match characters and not halves. A function of the
// language that is applied partially still checks its arguments. Elements and
// members are evaluated in order, so of two errors the first is reported. Whole
// numbers that a float64 cannot hold stay exact unless the expression calculates with them.
//
// # Limits
//
// An expression has at most [MaxLength] bytes and nests at most [MaxNesting]
// deep. An evaluation takes at most [MaxSteps] steps, never holds a value larger
// than [MaxSize], and stands at most [MaxDepth] deep; the last two are where AWS
// was measured to stop, and the messages are AWS's. What would be too large is
// refused before it is made, and all work is paid for in steps, matching a
// regular expression included. So no pair of expression and data takes more than
// about a second, or more memory than a few hundred megabytes over all its course
// (TestBounded). Nothing goes on when an evaluation has ended.
package jsonata
