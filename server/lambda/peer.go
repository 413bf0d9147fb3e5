package lambda

import "net"

// ownOnly is a listener that accepts connections of processes of this user only.
type ownOnly struct{ net.Listener }

// Accept implements [net.Listener].
func (l ownOnly) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || isOwn(conn) {
			return conn, err
		}
		_ = conn.Close() // nothing was said
	}
}
