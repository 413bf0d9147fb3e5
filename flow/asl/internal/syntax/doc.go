// Package syntax has the typed syntax tree of the States Language. The checker makes it of a definition, and the
// interpreter runs it: neither knows the other. A tree never changes once it is made.
package syntax
