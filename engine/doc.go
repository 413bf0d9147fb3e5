// Package engine runs flows: it schedules their atoms, stores their results, and undoes them if the work cannot be
// finished.
//
//	eng, err := engine.New(boot, store, engine.With(sizeGB, 20))
//	if err != nil {
//		return err // every wiring mistake shows up here, before anything runs
//	}
//	res, err := eng.Run(ctx, "boot-4711") // starts that run, or resumes it
//	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
//		return fmt.Errorf("undone because %w", reverted.Failures[0])
//	}
//
// The engine commits the result of an atom before any other atom depends on the result. Therefore, a run survives
// the death of its process at any point: Run resumes it from the last commit. The engine does not execute an atom
// again after its success was committed. It executes an atom again that was running, with the same idempotency key.
//
// If a process stops, the engine writes nothing about that to the store. If the store fails, the run neither fails
// nor is reverted: Run returns the store's error, and the run resumes later.
package engine
