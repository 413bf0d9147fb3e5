// Package flow arranges atoms into flows. A flow says in which order its atoms run,
// which atoms are retried, and which are left out.
//
//	boot := flow.Linear("boot-server",
//		atom.Task("create-volume", createVolume{cloud}),
//		atom.Task("boot", bootServer{cloud}),
//	)
//
// The patterns are [Linear], [Unordered] and [Graph]. Patterns may be nested, and
// each may have a retry. [Compile] turns a flow into a [Plan] and reports every
// error in it at once.
//
// A [Growing] flow has no plan. Each time a node ends, its [grow.Language] decides which
// nodes follow. Amazon States Language and similar languages run this way.
//
// Nothing in this package does I/O, reads a clock or starts a goroutine.
package flow
