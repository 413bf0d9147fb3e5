// Package engine runs flows: it schedules their atoms, keeps what they did, and
// undoes it when the work cannot be finished.
//
//	eng, err := engine.New(boot, engine.WithStore(store), engine.With(sizeGB, 20))
//	if err != nil {
//		return err // every wiring mistake shows up here, before anything runs
//	}
//	res, err := eng.Run(ctx, "boot-4711") // starts that run, or goes on with it
//	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
//		return fmt.Errorf("undone because %w", reverted.Failures[0])
//	}
//
// What an atom did is committed before anything rests on it, so a run survives
// the death of its process at any point: Run takes it up where the last commit
// left it. An atom whose success was committed is not executed again; one that
// was running is, under the same idempotency key.
//
// A process that stops writes nothing about it: the run is found as it was. A
// store that fails neither fails nor reverts a run: Run returns the store's
// error, and the run goes on when it is taken up again.
package engine
