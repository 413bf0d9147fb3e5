package server

import "net"

// openFiles returns how many files the process may have open: here there is no limit.
func openFiles() int { return 2 * maxConnections }

// hasArrived reports whether something has arrived on a connection that was not read: here
// that is not known.
func hasArrived(net.Conn) bool { return false }
