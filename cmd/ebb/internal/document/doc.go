// Package document reads JSON and YAML as values with their positions in the file. A YAML document can be printed
// as JSON whose lines map back to these positions. No text makes a reader panic, or need much more memory than the
// text itself.
package document
