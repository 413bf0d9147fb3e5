package lambda

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// isOwn reports whether a connection over the loopback interface is one of this user, or of root. The kernel's tables
// of sockets have the user of the other end. Where the tables are hidden, all connections count as own.
func isOwn(conn net.Conn) bool {
	theirs, ours := socketName(conn.RemoteAddr()), socketName(conn.LocalAddr())
	// A client may use a socket of IPv6 for an address of IPv4.
	for file, prefix := range map[string]string{"/proc/net/tcp": "", "/proc/net/tcp6": "0000000000000000FFFF0000"} {
		user, err := userOf(file, prefix+theirs, prefix+ours)
		if err != nil && prefix == "" {
			return true
		}
		if user != "" {
			return user == "0" || user == strconv.Itoa(os.Geteuid())
		}
	}
	return false // it has gone
}

// userOf returns the user of a socket; "" if there is no such socket.
func userOf(file, local, remote string) (string, error) {
	table, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = table.Close() }() // it was only read
	rows := bufio.NewScanner(table)
	for rows.Scan() {
		const localField, remoteField, userField = 1, 2, 7
		fields := strings.Fields(rows.Text())
		if len(fields) > userField && fields[localField] == local && fields[remoteField] == remote {
			return fields[userField], nil
		}
	}
	return "", rows.Err()
}

// socketName returns an address as the tables have it.
func socketName(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.To4() == nil {
		return ""
	}
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(tcp.IP.To4()), tcp.Port)
}
