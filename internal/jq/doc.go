// Package jq evaluates untrusted jq programs with github.com/itchyny/gojq, in a
// sandbox and within bounds.
//
//	p, err := jq.Compile(`.total += $value`, "value")
//	if err != nil {
//		return err // *jq.Error, with the offset of what is wrong
//	}
//	result, err := p.Run(data, 7)
//
// # Sandbox
//
// A program sees its input and its variables and nothing else: no environment,
// no clock, no time zone, no files, no modules, no further input. What would be
// needed for that is refused when the program is compiled, with a reason. So a
// program gives the same result for the same values, always and everywhere.
//
// # Bounds
//
// An evaluation ends with an error once it has used up its steps ([MaxSteps]).
// A step is one instruction of gojq's machine; operations whose cost depends on
// their operands cost as many steps as the work they do is worth. The bound is a
// count, not a time, so whether a program ends does not depend on the machine.
//
// gojq cannot be interrupted within an operation. So before a program is
// compiled, its syntax tree is rewritten: what can do much at once (repeating a
// string, comparing, sorting, encoding, matching, an index far beyond the end of
// an array, …) is preceded by a guard that weighs the operands, refuses what
// would be larger than [MaxSize] or nests deeper than [MaxDepth], and charges for
// the rest. Inside paths, recursion is possible only along what is there
// (.., recurse, recurse(.children[]?)), because the cost of a path is not seen by
// any guard. Operations on other programs' time, such as compiling regular
// expressions, are done here and not by gojq.
//
// # Values
//
// Values are those of gojq: nil, bool, int, float64, *big.Int, json.Number,
// string, []any and map[string]any. [Decode] reads them from JSON text and
// [Encode] writes them. Members of objects come in order of their names.
package jq
