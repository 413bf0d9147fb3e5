package asl

import "github.com/ebbflow/ebb/internal/jsontext"

// A node is a JSON value of a definition together with its place in the text.
// What a node means is what the checker read from it; its valueRule says of which
// type that is.
type node = jsontext.Node

// Position returns line and column of an offset into a definition's text, both
// from 1, the column in characters.
func Position(text []byte, offset int) (line, column int) { return jsontext.Position(text, offset) }
