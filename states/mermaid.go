package states

import (
	"fmt"
	"strings"
)

// Mermaid draws the table of a kind as a stateDiagram-v2. Transitions of Ebb's
// own are marked "(E)". Resets are left out: they lead from nearly every state
// to PENDING and would hide the rest.
func Mermaid[S Kind]() string {
	var zero S
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", zero)
	for _, p := range Pairs[S]() {
		switch {
		case p.Event == Reset:
		case p.Class == Ebb:
			fmt.Fprintf(&b, "    %s --> %s: %s (E)\n", p.From, p.To, p.Event)
		default:
			fmt.Fprintf(&b, "    %s --> %s: %s\n", p.From, p.To, p.Event)
		}
	}
	return b.String()
}
