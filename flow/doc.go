// Package flow arranges atoms into flows: what runs after what, what is tried
// again, and what is left out.
//
//	boot := flow.Linear("boot-server",
//		atom.Task("create-volume", createVolume{cloud}),
//		atom.Task("boot", bootServer{cloud}),
//	)
//
// The patterns are [Linear], [Unordered] and [Graph], nested as one likes. Each
// may have a retry. [Compile] turns a flow into a [Plan] and reports every
// mistake in it at once.
//
// A [Growing] flow has no plan: its [Language] says, each time something has
// ended, what comes next. Amazon States Language and its like run this way.
//
// Nothing in this package does I/O, reads a clock or starts a goroutine.
package flow
