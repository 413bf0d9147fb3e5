// Package grow is what authors of languages use. A [Language] decides how a flow grows while it runs: the engine asks
// it what follows from a [Cause], and it answers with a [Growth]. Programs that arrange atoms, or that run definitions,
// do not need this package.
//
// Nothing in this package does I/O, reads a clock or starts a goroutine.
package grow
