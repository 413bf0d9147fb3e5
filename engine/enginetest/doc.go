// Package enginetest helps authors of flows to test them.
//
// [FailAt] answers a question that tests of single tasks leave open: if the flow fails, is everything back where it
// was? FailAt asks this for every atom that can fail, for every way to fail, and for every point at which the process
// can die. You say how to create a world, which flow changes the world, and what must be restored:
//
//	func TestOrder(t *testing.T) {
//		enginetest.FailAt(t, enginetest.World[*Shop]{
//			New:   func(testing.TB) *Shop { return NewShop() },
//			Flow:  func(s *Shop) flow.Node { return order(s) },
//			State: func(s *Shop) any { return s.Books() },
//		})
//	}
//
// A flow of ten atoms has about a hundred cases, which take some hundredths of a second. A failed case reports how each
// atom changed the world, and which atom is the likely culprit.
//
// # Time
//
// There is no clock to inject, because Ebb reads the clock of package time. Test a flow that waits for days in a bubble
// of [testing/synctest], where days pass as soon as every goroutine in the bubble waits. FailAt makes a bubble for each
// case. Other tests make their own.
//
// # Fakes
//
// [DieAt] is a store whose process dies at a given commit. [Tasks] are scripted tasks for flows written in a language.
// [Trace] describes a run as lines of text, and [Undone] asserts what was undone.
package enginetest
