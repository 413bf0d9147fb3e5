// Package listen has observers for engine.WithObserver: what TaskFlow calls
// listeners.
//
//	var seen listen.Capture
//	eng, err := engine.New(boot,
//		engine.WithObserver(listen.Durations(histogram.Observe)),
//		engine.WithObserver(seen.Observe),
//	)
//
// An observer is a function. The engine calls it for each event, in order, after the commit.
package listen
