//go:build unix

package supervisor

import (
	"encoding/binary"
	"os"
	"strconv"
	"syscall"
)

// yieldTimeout is how long the owner of a later attempt may take to write its fence, in seconds.
const yieldTimeout = 5

// yield answers the owners of later attempts, until the process ends.
func (s *supervision) yield() {
	if syscall.SetNonblock(NameFD, false) != nil || syscall.Listen(NameFD, 16) != nil {
		return
	}
	for {
		conn, _, err := syscall.Accept(NameFD)
		switch {
		case err == syscall.EINTR || err == syscall.ECONNABORTED:
		case err != nil:
			return
		case !trusted(conn):
			_ = syscall.Close(conn)
		default:
			go s.answer(conn)
		}
	}
}

// answer reports which program this is, and ends it unless the other owner is older. The connection stays open until
// this process ends, so the other owner sees when all processes are gone.
func (s *supervision) answer(conn int) {
	_, _ = syscall.Write(conn, []byte("process "+strconv.Itoa(s.program)+" of "+strconv.Quote(s.path)+
		", supervised by process "+strconv.Itoa(os.Getpid())+"\n"))
	_ = syscall.SetsockoptTimeval(conn, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: yieldTimeout})
	var fence [8]byte
	n, err := syscall.Read(conn, fence[:])
	if err == nil && n == len(fence) && binary.BigEndian.Uint64(fence[:]) >= s.fence {
		s.kill()
	}
}
