package doctor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDoctorOnNetworkFileSystem looks at a folder that is mounted as sshfs does it.
func TestDoctorOnNetworkFileSystem(t *testing.T) {
	t.Parallel()
	for kind, says := range map[string]string{"fuse.sshfs": "network file system (sshfs)", "fuse.encfs": ""} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := &patient{dsn: "sqlite:" + filepath.Join(mounted(t, kind), "ebb.db")}
			if says == "" {
				p.finds(t, "", "", "", "")
				return
			}
			p.finds(t, "file system", Wrong, says, "postgres://")
		})
	}
}

// mounted returns an empty folder of a file system that this process provides.
func mounted(t *testing.T, kind string) string {
	t.Helper()
	dir := t.TempDir()
	device, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no file systems of programs here: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", device, os.Getuid(), os.Getgid())
	if err := syscall.Mount("test", dir, kind, syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		_ = syscall.Close(device)
		t.Skipf("no right to mount one: %v", err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answerFUSE(device)
	}()
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
		<-answered
		if err := syscall.Close(device); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// answerFUSE answers the kernel's requests about an empty folder, until it is unmounted. The numbers are those of
// linux/fuse.h.
func answerFUSE(device int) {
	const (
		headOfRequest, headOfAnswer         = 40, 16
		getattr, statfs, initialize, forget = 3, 17, 26, 2
		attributes, shape, agreed           = 104, 80, 64 // bytes
	)
	request := make([]byte, 1<<17)
	for {
		n, err := syscall.Read(device, request)
		if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) {
			continue
		}
		if err != nil || n < headOfRequest { // ENODEV: it is unmounted
			return
		}
		var body []byte
		failed := syscall.ENOENT
		switch binary.LittleEndian.Uint32(request[4:]) {
		case initialize:
			body = make([]byte, agreed)
			copy(body, request[headOfRequest:headOfRequest+8]) // the kernel's own version
			binary.LittleEndian.PutUint32(body[20:], 1<<12)    // bytes at once
		case getattr:
			body = make([]byte, attributes)
			binary.LittleEndian.PutUint64(body[16:], 1) // the root
			binary.LittleEndian.PutUint32(body[16+60:], syscall.S_IFDIR|0o700)
			binary.LittleEndian.PutUint32(body[16+64:], 2)
			binary.LittleEndian.PutUint32(body[16+68:], uint32(os.Getuid()))
			binary.LittleEndian.PutUint32(body[16+72:], uint32(os.Getgid()))
		case statfs:
			body = make([]byte, shape)
		case forget:
			continue
		}
		answer := make([]byte, headOfAnswer, headOfAnswer+len(body))
		binary.LittleEndian.PutUint32(answer, uint32(headOfAnswer+len(body)))
		if body == nil {
			binary.LittleEndian.PutUint32(answer[4:], uint32(-int32(failed)))
		}
		copy(answer[8:], request[8:16]) // which request it is
		if _, err := syscall.Write(device, append(answer, body...)); err != nil {
			return
		}
	}
}
