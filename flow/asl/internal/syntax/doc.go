// Package syntax contains the typed syntax tree of the States Language. The checker builds the tree from a
// definition, and the interpreter runs the tree. Neither knows the other. A tree does not change after it was
// built.
package syntax
