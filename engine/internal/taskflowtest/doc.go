// Package taskflowtest builds the flows of recorded TaskFlow cases, with atoms
// that do what the case scripts and note how they were called. Only tests use
// it: those of the scheduler and those of the engine around it.
//
//	world := taskflowtest.NewWorld()
//	root, inputs := taskflowtest.Build(&rec.Case, world)
//	plan, err := flow.Compile(root, inputs)
package taskflowtest
