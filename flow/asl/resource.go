package asl

import (
	"slices"
	"strings"
)

// A Resource is a task that a definition names.
type Resource struct {
	Name   string   // as the definition has it, such as exec:./book
	States []string // that use it, to work or to be undone; sorted
}

// Resources returns the tasks that the machine names, sorted by name, so that
// they can be looked for before it is run.
func (m *Machine) Resources() []Resource {
	users := map[string][]string{}
	for name, s := range m.states {
		if s.task != nil {
			users[s.task.resource] = append(users[s.task.resource], name)
		}
		if s.revert != nil && (s.task == nil || s.task.resource != s.revert.resource) {
			users[s.revert.resource] = append(users[s.revert.resource], name)
		}
	}
	resources := make([]Resource, 0, len(users))
	for name, states := range users {
		slices.Sort(states)
		resources = append(resources, Resource{name, states})
	}
	slices.SortFunc(resources, func(a, b Resource) int { return strings.Compare(a.Name, b.Name) })
	return resources
}
