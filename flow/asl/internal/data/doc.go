// Package data has the values that states hand on. A value is JSON text, and is decoded where a state looks into it:
// as a tree for JSONPath, or for JSONata.
package data
