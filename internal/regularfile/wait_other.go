//go:build !unix

package regularfile

// dontWait is 0, because files here are never named pipes.
const dontWait = 0
