// Package jsontext reads JSON text strictly (RFC 8259), with the place of each
// value, and writes it.
//
// A definition is read into nodes ([Parse]), because each problem is to be
// reported where it stands. Data is read into trees ([Decode]), or not at all:
// what is only passed on stays text ([Reader], [Writer]).
package jsontext
