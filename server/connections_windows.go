package server

import "net"

// openFiles returns a number that does not limit the connections: Windows has no limit.
func openFiles() int { return 2 * maxConnections }

// hasArrived returns false, because it is not implemented on Windows.
func hasArrived(net.Conn) bool { return false }
