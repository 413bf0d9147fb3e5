// Package stateerror has the errors of the States Language: their names, the causes that AWS gives, and which of them
// an entry of Retry or Catch is meant for.
package stateerror
