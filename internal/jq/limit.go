package jq

// The bounds within which programs are compiled and run.
const (
	// MaxSource is the size in bytes of the longest program.
	MaxSource = 32 << 10
	// MaxSteps is how many steps an evaluation may take. They pass in well under
	// a second.
	MaxSteps = 4_000_000
	// MaxSize is the size in bytes of the largest value that an operation may be
	// given or give, about as it is in memory.
	MaxSize = 16 << 20
	// MaxDepth is how deep a value may nest that an operation looks into.
	MaxDepth = 1000
	// MaxDigits is how many digits a number may have.
	MaxDigits = 1000
	// MaxIndex is the largest index of an array.
	MaxIndex = 1 << 20

	maxBits    = 1 << 14 // of whole numbers
	maxKey     = 64 << 10
	maxPattern = 1 << 10 // bytes of a regular expression, or of the format of a time
	maxNeedle  = 64      // length of an array that is looked for by .[[…]]
	maxOrder   = 10_000  // of Bessel functions
	maxRegexps = 64      // that are kept compiled during an evaluation
)
