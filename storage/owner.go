package storage

import "time"

// An Owner is a process that has the store open and may drive runs.
type Owner struct {
	ID      string    // unique id, new each time a process opens the store
	Host    string    // name of its machine
	PID     int       // its process ID there
	Started time.Time // when it opened the store
	Seen    time.Time // when it last renewed its lease, by the store's clock
	Alive   bool      // true if its lease is valid or, on one machine, if it holds its lock
	Ended   bool      // it closed the store, rather than die; false if that is not known
	Stopped bool      // it is alive, but the operating system says that it was stopped; false if that is not known
}
