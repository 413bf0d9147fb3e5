//go:build !unix

package regularfile

// dontWait is nothing where files have no named pipes.
const dontWait = 0
