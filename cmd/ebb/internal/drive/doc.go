// Package drive drives runs in this process until they rest, follows those that another process drives, and sends
// operators' commands to runs, no matter which process drives them.
package drive
