// Package listen has observers for engine.WithObserver: what TaskFlow calls
// listeners.
//
//	var seen listen.Capture
//	eng, err := engine.New(boot,
//		engine.WithObserver(listen.Durations(histogram.Observe)),
//		engine.WithObserver(seen.Observe),
//	)
//
// An observer is a function, so what is not here is quickly written: it is told
// of everything that was committed, in order, and looks at what it likes.
package listen
