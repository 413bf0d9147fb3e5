// Package codec defines the form in which stores keep records: atoms, history, failures, secrets and the tries of a
// retry. A record is a row of tagged fields, so a field that was added later is zero in older records. See fields.go
// for the wire format.
package codec
