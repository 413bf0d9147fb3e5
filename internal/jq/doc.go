// Package jq evaluates untrusted jq programs with github.com/itchyny/gojq, in a sandbox and with limits.
//
//	p, err := jq.Compile(`.total += $value`, "value")
//	if err != nil {
//		return err // *jq.Error, with the offset of the error
//	}
//	result, err := p.Run(data, 7)
//
// # Sandbox
//
// A program sees only its input and its variables: no environment, clock, time zone, files, modules, or further
// input. Compile refuses functions that would need them, with the reason. Therefore, a program always returns the
// same result for the same values.
//
// # Limits
//
// An evaluation ends with an error when its steps ([MaxSteps]) are used up. A step is one instruction of gojq's
// machine. Operations whose cost depends on their operands cost correspondingly more steps. The limit is a count,
// not a time, so it does not depend on the speed of the machine.
//
// gojq cannot be interrupted within an operation. Therefore, Compile rewrites the syntax tree. It puts a guard
// before each operation that can do much at once, such as repeating a string, comparing, sorting, encoding,
// matching, or an index far beyond the end of an array. The guard measures the operands, refuses results larger
// than [MaxSize] or nested deeper than [MaxDepth], and charges steps for the rest. Inside paths, recursion is
// possible only along existing values (.., recurse, recurse(.children[]?)), because no guard sees the cost of a
// path. This package, not gojq, does expensive preparations such as compiling regular expressions.
//
// # Values
//
// Values are those of gojq: nil, bool, int, float64, *big.Int, json.Number, string, []any and map[string]any.
// [Decode] reads them from JSON text and [Encode] writes them. Members of objects are ordered by name.
package jq
