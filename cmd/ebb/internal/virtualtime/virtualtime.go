// Package virtualtime runs code whose waits take no time.
package virtualtime

import (
	"testing"
	"testing/synctest"
)

// Run runs f in a bubble, where time passes as soon as all goroutines of the bubble wait. The bubble begins in the year
// 2000. The engine reads the clock of package time. Only [testing/synctest] can replace that clock. It needs a T, but
// only checks that there is one. No goroutine of f may outlive it.
func Run(f func()) {
	synctest.Test(new(testing.T), func(*testing.T) { f() })
}
