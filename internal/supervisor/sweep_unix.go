//go:build unix

package supervisor

import (
	"os"
	"time"
)

const (
	// sweepPause is how long a supervisor waits between two sweeps, at first.
	sweepPause = time.Millisecond
	// sweepPauseMax is how long that pause becomes when a sweep finds nothing new.
	sweepPauseMax = 50 * time.Millisecond
	// sweepLimit is how long a supervisor waits for what it cannot end: programs of another
	// user, and those that the kernel keeps.
	sweepLimit = 5 * time.Second
)

// sweepUntilGone sends SIGKILL to all that the program started, again and again, as what is
// being killed may just have started more. The process ends when its last child has ended, see
// reap, or when for sweepLimit nothing new was found.
func (s *supervision) sweepUntilGone() {
	begin, pause := time.Now(), sweepPause
	for {
		killed, left := s.sweep()
		switch {
		case killed > 0:
			begin, pause = time.Now(), sweepPause
		case time.Since(begin) > sweepLimit:
			report(Left, uint32(left))
			os.Exit(0)
		}
		time.Sleep(pause)
		pause = min(2*pause, sweepPauseMax)
	}
}
