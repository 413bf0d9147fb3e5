// Package failat runs a flow once for each way in which each of its atoms can fail, and for each point at which its
// process can die. It reports where the world is wrong afterwards. It is the core of enginetest.FailAt and of ebb test
// --fail-at. It does not import package testing, so that the command can link it.
package failat
