// Package supervisor implements the process between Ebb and a program that a task runs. It ends the program, and all
// processes that the program started, when Ebb dies or asks for it.
//
// The supervisor is the binary of Ebb itself, started again with [Marker] as its name. It takes
// over while packages are initialized: this package imports little, so that few others come
// before it, and main never begins.
//
//	task-supervisor FENCE NAMED PATH ARGUMENT…
//
// FENCE is the fence of the run's owner. NAMED is 1 if descriptor 4 is a listening socket, see
// below. PATH is the program, ARGUMENT… are its arguments, with its name first. It gets the
// supervisor's standard input, outputs and environment.
//
// Descriptor 3 is a socket to Ebb. The supervisor writes [Report] values to it. Ebb writes
// [Terminate], which has the supervisor send SIGTERM to all. When Ebb closes its end, or dies,
// the supervisor sends SIGKILL to all until none is left. It does the same when the program
// ends without a Terminate before: an attempt ends with its program. After a Terminate what the
// program started has as long as Ebb leaves the socket open.
//
// On Linux the supervisor is a child subreaper. Processes that the program starts stay descendants of the supervisor,
// also after double forks and in their own sessions. So the supervisor finds them in /proc. It ends when it has no
// children. Elsewhere it knows the program's process group.
//
// Descriptor 4 is the name of the program's atom among all atoms of this machine: a socket that
// listens on a name derived from the run and the path. The supervisor alone holds it, so the
// name is free once all is gone. The owner of a later attempt connects, and writes its fence
// (8 bytes, big-endian). If that fence is not lower, the supervisor sends SIGKILL to all. It
// first writes a line that says which program it supervises.
package supervisor
