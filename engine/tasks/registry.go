package tasks

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Registry finds the bodies of tasks by the names that languages know them
// by. The zero value runs programs and asks servers. Set it up before the first
// run: it may be read, not changed, by several goroutines.
type Registry struct {
	// Dir is the folder from which programs named by a path are looked up: that
	// of the definition. "" is the folder Ebb was started in.
	Dir string
	// Env is added to the environment of programs, as "NAME=value".
	Env []string
	// Grace is the time between SIGTERM and SIGKILL when a program's call is
	// cancelled. 0 is five seconds.
	Grace time.Duration
	// Client asks servers. Nil is a client that follows up to three redirects.
	Client *http.Client
	// Mocks answer in place of the tasks of the states they name.
	Mocks *Mocks

	bodies map[string]atom.Body
	mapped map[string]string
}

// Add registers a Go body under a name. A later one replaces it.
func (r *Registry) Add(name string, body atom.Body) {
	if r.bodies == nil {
		r.bodies = map[string]atom.Body{}
	}
	r.bodies[name] = body
}

// Map has one name, such as a Lambda function's ARN, stand for another. What it
// stands for is not mapped again.
func (r *Registry) Map(name, resource string) {
	if r.mapped == nil {
		r.mapped = map[string]string{}
	}
	r.mapped[name] = resource
}

// Task returns the body that does the task of that name. With mocks it always
// returns one, for whether a mock answers is known only when a state calls.
func (r *Registry) Task(name string) (atom.Body, error) {
	body, err := r.find(name)
	if r.Mocks == nil {
		return body, err
	}
	return mocked{mocks: r.Mocks, body: body, missing: err}, nil
}

func (r *Registry) find(name string) (atom.Body, error) {
	if body := r.bodies[name]; body != nil {
		return body, nil
	}
	resource := name
	if to, ok := r.mapped[name]; ok {
		resource = to
	}
	if body := r.bodies[resource]; body != nil {
		return body, nil
	}
	switch scheme, rest, _ := strings.Cut(resource, ":"); scheme {
	case "exec":
		return r.program(resource, rest)
	case "http", "https":
		return r.server(resource)
	default:
		return nil, r.unknown(name, resource)
	}
}

func (r *Registry) unknown(name, resource string) error {
	fix := "use exec:PROGRAM or https://…, or map the name to one"
	if known := slices.Sorted(maps.Keys(r.bodies)); len(known) > 0 {
		fix += "; registered are " + strings.Join(known, ", ")
	}
	if name != resource {
		return fmt.Errorf("tasks: %s is mapped to %s, which is no task (%s)", name, resource, fix)
	}
	return fmt.Errorf("tasks: there is no task %s (%s)", name, fix)
}

// Check reports whether the task of that name could be called now: that it is
// known, and for a program that it is there and may be run. It is for the time
// before a run begins. A state that is mocked needs no task.
func (r *Registry) Check(name, state string) error {
	if r.Mocks.cover(state) {
		return nil
	}
	body, err := r.find(name)
	if err != nil {
		return err
	}
	if p, ok := body.(*program); ok {
		return p.check()
	}
	return nil
}
