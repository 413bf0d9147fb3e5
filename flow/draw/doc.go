// Package draw makes pictures of flows, and of what became of their runs, as
// text for [Mermaid] and for Graphviz.
//
//	view := draw.OfPlan(plan)
//	fmt.Print(draw.Mermaid(view))                            // what was planned
//	fmt.Print(draw.DOT(view.Coloured(map[string]string{      // what became of it
//		"create-volume": "REVERTED",
//		"boot":          "FAILURE",
//	})))
//
// A [View] is a plain struct that knows nothing of flows or stores: a caller that has
// another thing to draw, such as a state machine or a stored run, fills one in.
//
// The package is pure. The same view gives the same text, byte by byte; its size
// is in proportion to the view's. Names are escaped, so none can add to the
// picture anything but its own text.
//
// [Mermaid]: https://mermaid.js.org
package draw
