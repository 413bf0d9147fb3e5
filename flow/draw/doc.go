// Package draw renders diagrams of flows, and of the progress of runs, as text for [Mermaid] and for Graphviz, and as
// SVG images that it lays out itself.
//
//	view := draw.OfPlan(plan)
//	fmt.Print(draw.Mermaid(view))                            // what was planned
//	fmt.Print(draw.DOT(view.Colored(map[string]string{      // what happened
//		"create-volume": "REVERTED",
//		"boot":          "FAILURE",
//	})))
//
// A [View] is a plain struct that depends on neither flows nor stores. To draw something else, such as a state
// machine or a stored run, fill in a View.
//
// The package is pure. The same view gives the same text, byte by byte; its size is proportional to the view's.
// Names are escaped, so a name can add only its own text to the diagram.
//
// [Mermaid]: https://mermaid.js.org
package draw
