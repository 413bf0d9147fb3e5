// Package taskflowtest builds the flows of recorded TaskFlow cases, with atoms that follow the case's script and record
// their calls. Only tests use it: those of the scheduler and those of the engine around it.
//
//	world := taskflowtest.NewWorld()
//	root, inputs := taskflowtest.Build(&rec.Case, world)
//	plan, err := flow.Compile(root, inputs)
package taskflowtest
