// Package filelock holds exclusive locks on whole files: flock on Unix,
// LockFileEx on Windows.
//
//	l, err := filelock.Open("work.db.lock")
//	…
//	if err := l.Lock(); err != nil {…}
//	defer l.Unlock()
//
// A lock belongs to the Lock value, so two of them on one file exclude each
// other within a process, too. The kernel frees it when the process ends, however
// it ends. Locks are advisory, not inherited by child processes, and only good on
// local file systems.
package filelock
