//go:build unix

package supervisor

import (
	"os"
	"time"
)

const (
	// sweepPause is the first pause between two sweeps.
	sweepPause = time.Millisecond
	// sweepPauseMax is the longest pause, after sweeps that find nothing new.
	sweepPauseMax = 50 * time.Millisecond
	// sweepLimit is how long a supervisor waits for processes that it cannot end: those of another user, and those that
	// the kernel keeps.
	//
	//limit:command wait of a supervisor for a process that it cannot end | {} after the last end | the process
	//limit:and remains, and is logged
	sweepLimit = 5 * time.Second
)

// sweepUntilGone sends SIGKILL repeatedly to all processes that the program started, because a process may start others
// while it is killed. This process ends when its last child has ended, see reap, or when it found nothing new for
// sweepLimit.
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
