// Package filelock holds exclusive locks on whole files: flock on Unix,
// LockFileEx on Windows.
//
//	l, err := filelock.Open("work.db.lock")
//	…
//	if err := l.Lock(); err != nil {…}
//	defer l.Unlock()
//
// A lock belongs to the Lock value, so two of them on one file exclude each other within a process, too. The kernel
// releases it when the process ends, in any way. Locks are advisory, child processes do not inherit them, and they only
// work on local file systems.
package filelock
