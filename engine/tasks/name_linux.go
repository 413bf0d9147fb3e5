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
	nameTimeout = time.Minute
	// nameNotice is when such a wait is logged.
	nameNotice = 2 * time.Second
	// namePause is how long it waits at first before it tries the name again, namePauseMax at last.
	namePause    = time.Millisecond
	namePauseMax = 50 * time.Millisecond
	// maxHolder is how much is read of what a supervisor says about itself, in bytes.
	maxHolder = 512
)

// nameOf returns the name of the atom whose call ctx belongs to. It is unique on this machine, and names a socket in
// the abstract namespace. A socket of that name exists as long as a program of the atom runs. It is "" outside of an
// engine.
func nameOf(ctx context.Context) string {
	scope := atom.Scope(ctx)
	if scope == "" {
		return ""
	}
	call := atom.CurrentCall(ctx)
	sum := sha256.Sum256([]byte(scope + "\x00" + call.Run + "\x00" + call.Path))
	return "@ebb-" + hex.EncodeToString(sum[:16])
}

// takeName returns a socket that has the name of the atom, or nil when it has none. As long as
// a program of an earlier attempt has the name, takeName has it ended, and waits for that.
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

// listen takes a name. It returns syscall.EADDRINUSE when it is taken.
func listen(address *net.UnixAddr) (*os.File, error) {
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		return nil, err
	}
	socket, err := listener.File()
	return socket, errors.Join(err, listener.Close())
}

// yielded has the supervisor that holds a name end its program, and waits until it has or ctx
// ends. It reports whether there was one.
func yielded(ctx context.Context, address *net.UnixAddr, holder *atomic.Value) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", address.Name)
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends what is read below
	defer func() {
		stop()
		_ = conn.Close() // all was said
	}()
	if uid, ours := holderOf(conn); !ours {
		// It may be an Ebb of that user that works with the same database, so the attempt
		// waits. What it says of itself is not read: it may also be a process that only
		// wants to hold the attempt up.
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

// holderOf returns the user whose process listens at the other end, and whether it is a
// supervisor of this user or of root.
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
