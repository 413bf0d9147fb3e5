package definition

import (
	"fmt"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
)

// Covered returns a view of what tests cover. hits returns how often the tests went through a part. The label of a
// transition that belongs to a part ends with that number.
func (d *Definition) Covered(hits func(grow.Part) int64) draw.View {
	view := d.Machine.Picture(d.Name)
	states := map[string]string{}
	type way struct{ from, label string }
	ways := map[way]int64{}
	for _, part := range d.Machine.Parts() {
		n := hits(part)
		if part.Kind != grow.StatePart {
			ways[way{stateID(part.State), part.Label}] = n
			continue
		}
		states[stateID(part.State)] = "MISSED"
		if n > 0 {
			states[stateID(part.State)] = "COVERED"
		}
	}
	view = view.Colored(states)
	for i := range view.Edges {
		if n, is := ways[way{view.Edges[i].From, view.Edges[i].Label}]; is {
			view.Edges[i].Label += fmt.Sprintf(" (%d)", n)
		}
	}
	return view
}
