// Package enginetest helps authors of flows to test them.
//
// [FailAt] answers the question that tests of single tasks leave open: when the
// flow fails, is everything back where it was? FailAt asks this for every atom that
// can fail, for every way to fail, and for every point at which the process can die.
// Tell it how to make a world, which flow changes the world, and what must be back:
//
//	func TestOrder(t *testing.T) {
//		enginetest.FailAt(t, enginetest.World[*Shop]{
//			New:   func(testing.TB) *Shop { return NewShop() },
//			Flow:  func(s *Shop) flow.Node { return order(s) },
//			State: func(s *Shop) any { return s.Books() },
//		})
//	}
//
// A flow of ten atoms makes a hundred cases, which take some hundredths of a
// second. What fails is told with what each atom did to the world and which of
// them is to blame.
//
// # Time
//
// There is no clock to inject: Ebb reads the one of package time, so a flow that
// waits for days is tested in a bubble of [testing/synctest], where days pass as
// soon as every goroutine in the bubble waits. FailAt makes a bubble for each case; other
// tests make their own.
//
// # Fakes
//
// [DieAt] is a store whose process dies at a given commit. [Tasks] are scripted
// tasks for flows written in a language. [Trace] tells what became of a run as
// lines of text, and [Undone] asserts what was undone.
package enginetest
