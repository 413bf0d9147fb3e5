// Package teststate runs one state of a machine alone, as the TestState of AWS's API does. The work of the state is
// mocked, or done by a function of the caller's. The result tells how the data looked at each step of its way.
package teststate
