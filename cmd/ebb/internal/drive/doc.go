// Package drive drives runs in this process until they rest, and follows runs that another process drives. It sends
// operators' commands to runs, no matter which process drives them.
package drive
