// Package jsonata evaluates the expressions of JSONata 2.0.6, which the Amazon States Language supports beside
// JSONPath.
//
//	e, err := jsonata.Parse(`$sum($states.input.lines.(price * n))`)
//	...
//	v, err := e.Evaluate(&jsonata.Environment{Variable: variables, Now: now, Random: random})
//	...
//	text := v.AppendJSON(nil)
//
// An expression is compiled once, and any number of goroutines may then evaluate it. [Decode] reads data and
// [Value.AppendJSON] writes data; both keep the order of members. The package is pure: the environment provides the
// time and random bits, so the same environment gives the same result.
//
// # The language
//
// The meaning of an expression, and the code and message of every error, are those of the reference implementation
// (jsonata-js, see LICENSE-jsonata). TestConformanceJSONata runs its suite. As in the States Language, there is no
// $eval, and there are $hash, $parse, $partition, $random with a seed, $range and $uuid.
//
// Departures: a character beyond U+FFFF cannot be split into halves, and regular expressions match characters, not
// halves. A partially applied function of the language still checks its arguments. Elements and members are
// evaluated in order, so of two errors the first is reported. Integers that a float64 cannot represent stay exact
// unless the expression calculates with them.
//
// # Limits
//
// An expression has at most [MaxLength] bytes and nests at most [MaxNesting] deep. An evaluation takes at most
// [MaxSteps] steps, never holds a value larger than [MaxSize], and nests at most [MaxDepth] deep. The last two
// limits were measured on AWS, and the messages are AWS's. A value that would be too large is refused before it is
// created. All work costs steps, including regular expressions. Therefore, no expression takes more than about a
// second, or more than a few hundred megabytes in total (TestBounded). No work continues after an evaluation has
// ended.
package jsonata
