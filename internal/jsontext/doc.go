// Package jsontext reads JSON text strictly (RFC 8259), with the position of each value, and writes it.
//
// [Parse] reads a definition into nodes, because each problem is reported with its position. [Decode] reads data into
// trees. Data that is only passed on stays text ([Reader], [Writer]).
package jsontext
