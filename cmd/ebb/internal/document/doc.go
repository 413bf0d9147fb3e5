// Package document reads JSON and YAML as values that know their places in the file. A YAML document prints as JSON
// whose lines lead back to those places. No text makes a reader panic, or hold much more than the text itself.
package document
