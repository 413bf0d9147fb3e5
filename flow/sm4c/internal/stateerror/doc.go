// Package stateerror holds the errors of actions and machines: as error handlers see them, and as they are stored.
package stateerror
