package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/logevent"
)

const (
	// nameTimeout is how long an attempt waits for programs of earlier attempts to end.
	//
	//limit:command wait for a program of an earlier attempt | logged after {nameNotice}, ends after {} |
	//limit:and `Exec.StillRunning`
	nameTimeout = time.Minute
	// nameNotice is when such a wait is logged.
	nameNotice = 2 * time.Second
	// namePause is the first pause before another try for the name, namePauseMax the longest.
	namePause    = time.Millisecond
	namePauseMax = 50 * time.Millisecond
	// maxHolder is the number of bytes that are read of a supervisor's description.
	maxHolder = 512
)

// nameOf returns the name of the atom whose call ctx belongs to. It is unique on this machine, and names a socket in
// the abstract namespace. A socket of that name exists while a program of the atom runs. Outside of an engine, nameOf
// returns "".
func nameOf(ctx context.Context) string {
	scope := atom.Scope(ctx)
	if scope == "" {
		return ""
	}
	call := atom.CurrentCall(ctx)
	sum := sha256.Sum256([]byte(scope + "\x00" + call.Run + "\x00" + call.Path))
	return "@ebb-" + hex.EncodeToString(sum[:16])
}

// takeName returns a socket with the name of the atom, or nil if the atom has no name. If a program of an earlier
// attempt has the name, takeName has the program ended, and waits for that.
func takeName(ctx context.Context) (*os.File, error) {
	address := &net.UnixAddr{Name: nameOf(ctx), Net: "unix"}
	if address.Name == "" {
		return nil, nil //nolint:nilnil // see above
	}
	socket, err := listen(address)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return socket, err
	}
	var holder atomic.Value
	holder.Store("")
	notice := time.AfterFunc(nameNotice, func() {
		atom.Logger(ctx).Warn(logevent.ProgramWaiting, "program", holder.Load())
	})
	defer notice.Stop()
	late := atom.Errorf(CodeStillRunning, "a program of an earlier attempt still runs")
	bounded, cancel := context.WithTimeoutCause(ctx, nameTimeout, late)
	defer cancel()
	for pause := namePause; ; pause = min(2*pause, namePauseMax) {
		if yielded(bounded, address, &holder) {
			pause = namePause
		}
		if socket, err := listen(address); !errors.Is(err, syscall.EADDRINUSE) {
			return socket, err
		}
		select {
		case <-bounded.Done():
			if said, _ := holder.Load().(string); said != "" && ctx.Err() == nil {
				return nil, atom.Errorf(CodeStillRunning, "a program of an earlier attempt still runs: %s", said)
			}
			return nil, context.Cause(bounded)
		case <-time.After(pause):
		}
	}
}

// listen takes a name. If it is taken, it returns syscall.EADDRINUSE.
func listen(address *net.UnixAddr) (*os.File, error) {
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		return nil, err
	}
	socket, err := listener.File()
	return socket, errors.Join(err, listener.Close())
}

// yielded makes the supervisor that holds a name end its program, and waits until it has or ctx ends. It reports
// whether there was a supervisor.
func yielded(ctx context.Context, address *net.UnixAddr, holder *atomic.Value) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", address.Name)
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends the read below
	defer func() {
		stop()
		_ = conn.Close() // everything was sent
	}()
	if uid, ours := holderOf(conn); !ours {
		// It may be an Ebb of that user that works with the same database, so the attempt waits. The description is not
		// read, because the process may only want to delay the attempt.
		holder.Store("a process of user " + strconv.FormatUint(uint64(uid), 10) + " has the name of the atom on this machine")
		return false
	}
	fence := binary.BigEndian.AppendUint64(nil, uint64(atom.CurrentCall(ctx).Fence))
	if _, err := conn.Write(fence); err != nil {
		return false
	}
	said := make([]byte, maxHolder)
	n, _ := conn.Read(said)
	if n == 0 {
		return false
	}
	holder.Store(strings.TrimSpace(begin(said[:n], maxHolder)))
	_, _ = io.Copy(io.Discard, io.LimitReader(conn, maxHolder)) // until it ends
	return true
}

// holderOf returns the user of the process that listens at the other end, and whether it is a supervisor of this user
// or of root.
func holderOf(conn net.Conn) (uid uint32, ours bool) {
	socket, is := conn.(*net.UnixConn)
	if !is {
		return 0, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, false
	}
	var peer *syscall.Ucred
	controlled := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if controlled != nil || err != nil {
		return 0, false
	}
	return peer.Uid, peer.Uid == 0 || int(peer.Uid) == os.Geteuid()
}
