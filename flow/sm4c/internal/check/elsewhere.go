package check

import (
	"slices"
	"strings"
	"sync"
)

// owners maps each attribute to the kinds of objects that have it.
type owners map[string][]string

// maxKinds is the largest number of kinds that may have an attribute, for the attribute to count as misplaced in an
// object of another kind.
const maxKinds = 2

// attributeOwners returns the owners of all attributes. A checker keeps them, because the rules on which they depend
// use them.
var attributeOwners = sync.OnceValue(func() owners {
	p := owners{}
	place(p, machineObject)
	place(p, executionTimeoutObject)
	place(p, eventObject)
	place(p, correlationObject)
	place(p, functionObject)
	place(p, retryObject)
	place(p, stateObject)
	place(p, transitionObject)
	place(p, groupObject)
	for _, form := range actionForms {
		place(p, form)
	}
	place(p, errorHandlerObject)
	for _, anywhere := range []string{"id", "kind"} { // in the original examples
		delete(p, anywhere)
	}
	return p
})

// place records the attributes of a kind of object.
func place[T any](p owners, f *objectRule[T]) {
	what, _, _ := strings.Cut(f.what, " of type ")
	for name := range f.attributes {
		if !slices.Contains(p[name], what) {
			p[name] = append(p[name], what)
		}
	}
}

// elsewhere returns the kinds of objects to which an attribute belongs that an object of some kind does not have. It
// returns "" if many kinds have the attribute, or none.
func (p owners) elsewhere(name, in string) string {
	kinds := p[name]
	if len(kinds) == 0 || len(kinds) > maxKinds {
		return ""
	}
	if of, _, _ := strings.Cut(in, " of type "); slices.Contains(kinds, of) {
		return of + " of another type"
	}
	return strings.Join(kinds, " or ")
}
