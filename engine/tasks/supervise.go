package tasks

import "sync/atomic"

var supervising atomic.Bool

// Supervise makes programs, and every process that they started, end when this process ends, in any way. Call it once
// at the start of main, and of TestMain. The ebb command does.
//
// On Linux and other Unix systems each program is then started by a supervisor:
// this process's own binary, started again. The supervisor is no second run of
// main. It takes over while packages are initialized, so the code of main does not
// run in it; that of packages initialized earlier does.
//
// On Linux, where /proc is mounted, the supervisor also finds processes that were started in the background, by double
// forks, or in sessions of their own. While a supervisor lives, no later attempt of its atom starts a program on this
// machine. The owner of the later attempt tells the supervisor to end everything, and waits for up to a minute.
// Processes count as on one machine if they share a network namespace. Elsewhere the supervisor ends the process group
// of the program, and later attempts do not wait.
//
// On Windows Supervise puts this process into a job object. The system ends all
// processes that this one has started when this one ends.
//
// In a process that does not call Supervise, only the program itself is killed when
// the process dies, and that on Linux alone. The processes that the program started live
// on, and may still run during the next attempt.
//
// In two cases a program can outlive Ebb in spite of Supervise. It runs as another user,
// and this user may not signal it. Or it kills its supervisor and has a session of its own.
func Supervise() {
	if prepareSupervision() {
		supervising.Store(true)
	}
}
