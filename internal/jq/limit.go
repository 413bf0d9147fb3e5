package jq

// Limits of programs and of their evaluation.
const (
	// MaxSource is the maximum size of a program in bytes.
	//
	//limit:sm4c jq expression | {B}
	MaxSource = 32 << 10
	// MaxSteps is the maximum number of steps of an evaluation. They take well under a second.
	//
	//limit:sm4c steps of one evaluation of a jq expression | {} | `SM4C.Expression`
	MaxSteps = 4_000_000
	// MaxSize is the maximum size in bytes, about as in memory, of a value that an operation takes or returns.
	//
	//limit:sm4c value that an operation of jq takes or returns; values of the expressions of one template together |
	//limit:and {B}, {MaxDepth} levels | `SM4C.Expression`
	MaxSize = 16 << 20
	// MaxDepth is the maximum nesting of a value that an operation visits.
	MaxDepth = 1000
	// MaxDigits is the maximum number of digits of a number.
	MaxDigits = 1000
	// MaxIndex is the largest index of an array.
	MaxIndex = 1 << 20

	maxBits    = 1 << 14 // of whole numbers
	maxKey     = 64 << 10
	maxPattern = 1 << 10 // bytes of a regular expression, or of the format of a time
	maxNeedle  = 64      // length of an array that .[[…]] searches for
	maxOrder   = 10_000  // of Bessel functions
	maxRegexps = 64      // regular expressions that stay compiled during an evaluation
)
