// Package stateerror contains the errors of the States Language: their names, AWS's causes, and which entries of
// Retry and Catch match them.
package stateerror
