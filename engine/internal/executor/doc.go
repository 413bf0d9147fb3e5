// Package executor makes the calls of one run: it executes and reverts atoms, on goroutines of
// its own or on its caller's, bounds how long they may take, and gives up those that ignore
// that their context has ended. It decides nothing: what a call is for, and what its end
// means, is the driver's to say.
package executor
