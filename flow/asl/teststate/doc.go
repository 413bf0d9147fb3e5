// Package teststate runs one state of a machine alone, like the TestState call of AWS's API. The work of the state
// is mocked, or done by the caller's function. The result shows the data at each step of its processing.
package teststate
