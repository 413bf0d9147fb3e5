// Package jsontext reads JSON text strictly (RFC 8259), with the position of each value, and writes it.
//
// A definition is read into nodes ([Parse]), because each problem is reported with its position. Data is read into
// trees ([Decode]) or, if it is only passed on, stays text ([Reader], [Writer]).
package jsontext
