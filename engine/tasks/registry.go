package tasks

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/redact"
)

// A Registry finds the bodies of tasks by the names that languages know them
// by. The zero value runs programs and calls servers. Set it up before the first run:
// several goroutines may read it, and none may change it then.
type Registry struct {
	// Dir is the folder of the definition. Paths of programs are relative to it. "" is the folder Ebb was started in.
	Dir string
	// Env is added to the environment of programs, as "NAME=value".
	Env []string
	// Grace is the time between SIGTERM and SIGKILL when a program's call is
	// cancelled. 0 is five seconds.
	Grace time.Duration
	// Client calls servers. Nil is a client that follows up to three redirects and accepts 64 KiB of headers.
	Client *http.Client
	// Schemes find tasks by the scheme of their names, the word before the first colon,
	// such as openapi. They take precedence over the built-in schemes.
	Schemes map[string]func(name string) (atom.Body, error)
	// Lambda is the URL of a server with the Invoke operation of AWS Lambda's API. Ebb calls it for Lambda functions
	// without a mapping or mock. Nil calls none of them.
	Lambda *url.URL
	// Allow returns an error for a URL that must not be requested although the input of arn:aws:states:::http:invoke
	// names it, or although a server redirects such a request to it. Nil allows all.
	Allow func(*url.URL) error
	// Mocks answer in place of the tasks of the states they name.
	Mocks *Mocks
	// OnlyMocks calls nothing but readers and writers of buckets. A state without a mock fails.
	OnlyMocks bool

	bodies  map[string]atom.Body
	mapped  map[string]string
	buckets map[string]Bucket
}

// Add registers a Go body under a name. A later one replaces it.
func (r *Registry) Add(name string, body atom.Body) {
	if r.bodies == nil {
		r.bodies = map[string]atom.Body{}
	}
	r.bodies[name] = body
}

// AddFunction registers a Lambda function, which a transport calls by the Invoke operation of AWS Lambda's API, in this
// process for example. It has no effect on a function that is added or mapped already.
func (r *Registry) AddFunction(name string, transport http.RoundTripper) {
	if body, known := r.function(name); !known || body == nil {
		r.Add(name, &remoteFunction{registry: r, name: name, client: &http.Client{Transport: transport}})
	}
}

// Map makes one name, such as the ARN of a Lambda function, stand for another. The
// registry does not map the other name again.
func (r *Registry) Map(name, resource string) {
	if r.mapped == nil {
		r.mapped = map[string]string{}
	}
	r.mapped[name] = resource
}

// AddBucket gives the readers and writers of distributed Maps a bucket. A later one
// replaces it.
func (r *Registry) AddBucket(name string, b Bucket) {
	if r.buckets == nil {
		r.buckets = map[string]Bucket{}
	}
	r.buckets[name] = b
}

// Task returns the body of the task of that name. With mocks it always returns one, because only
// the call of a state shows whether a mock answers.
func (r *Registry) Task(name string) (atom.Body, error) {
	if r.OnlyMocks && name != asl.ReadItems && name != asl.WriteObjects {
		return mocked{mocks: r.Mocks, missing: errOnlyMocks}, nil
	}
	body, err := r.find(name)
	if r.Mocks == nil || name == asl.ReadItems || name == asl.WriteObjects { // those are no state's
		return body, err
	}
	return mocked{mocks: r.Mocks, body: body, missing: err}, nil
}

// Instead implements [engine.Chooser]: a task that was added, mapped or mocked replaces a run.
func (r *Registry) Instead(task, path string) bool {
	service, _ := withoutPattern(task)
	return r.Mocks.covers(path) || r.known(task) != nil || r.known(service) != nil
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
	if service, ok := withoutPattern(name); ok && r.known(service) != nil {
		return r.find(service)
	}
	switch service, _ := withoutPattern(resource); {
	case service == asl.ReadItems:
		return items{registry: r}, nil
	case service == asl.WriteObjects:
		return writing{r}, nil
	case service == lambdaInvoke:
		return invocation{r}, nil
	case service == httpInvoke:
		return request{r.http(), r.Allow}, nil
	case strings.HasPrefix(resource, "arn:") && strings.Contains(resource, ":activity:"):
		return workersOf(resource) // a revert; the States Language itself waits for the work of its states
	case resource == name && strings.HasPrefix(name, "arn:aws:lambda:"): // the target of a mapping is not mapped again
		if body, ok := r.function(resource); ok {
			return body, nil
		}
		if body := r.remote(resource); body != nil {
			return body, nil
		}
		return nil, atom.Errorf(CodeNoFunction, "%w", r.unknown(name, resource))
	}
	scheme, rest, _ := strings.Cut(resource, ":")
	if find := r.Schemes[scheme]; find != nil {
		return find(resource)
	}
	switch scheme {
	case "exec":
		return r.program(resource, rest)
	case "http", "https":
		return r.server(resource)
	case workerScheme:
		return workersOf(rest)
	default:
		return nil, r.unknown(name, resource)
	}
}

// known returns the body of a name that was added or mapped, or nil.
func (r *Registry) known(name string) atom.Body {
	_, mapped := r.mapped[name]
	if r.bodies[name] == nil && !mapped {
		return nil
	}
	body, err := r.find(name)
	if err != nil {
		return nil
	}
	return body
}

// names returns all names that were added or mapped.
func (r *Registry) names() []string {
	return slices.AppendSeq(slices.Sorted(maps.Keys(r.bodies)), maps.Keys(r.mapped))
}

// withoutPattern cuts off the part of a service's resource that says what to wait for, and reports whether there was
// one.
func withoutPattern(resource string) (string, bool) {
	if strings.HasPrefix(resource, "arn:") {
		for _, pattern := range []string{".sync", ".sync:2", ".waitForTaskToken"} {
			if service, ok := strings.CutSuffix(resource, pattern); ok {
				return service, true
			}
		}
	}
	return resource, false
}

// registered lists the names, for the end of a message.
func (r *Registry) registered() string {
	if known := slices.Sorted(maps.Keys(r.bodies)); len(known) > 0 {
		return "; registered are " + strings.Join(known, ", ")
	}
	return ""
}

func (r *Registry) unknown(name, resource string) error {
	if strings.Contains(name, "${") && name == resource {
		return fmt.Errorf("tasks: the placeholder in %s has no value", name)
	}
	fix := "use exec:PROGRAM, https://… or worker:KIND, or map the name to one" + r.registered()
	if name != resource {
		return fmt.Errorf("tasks: %s is mapped to %s, which is no task (%s)", name, redact.URL(resource), fix)
	}
	return fmt.Errorf("tasks: there is no task %s (%s)", redact.URL(name), fix)
}

// Check returns an error if the task of that name cannot be called. Either the name is unknown, or the program does not
// exist or is not executable. Use it before a run begins. A task whose callers all have mocks is not needed, see
// [Mocks.Covers].
func (r *Registry) Check(name string) error {
	if service, _ := withoutPattern(name); service == asl.StartExecution {
		return nil // without a task in its place, a child run does this
	}
	body, err := r.find(name)
	if err != nil {
		return err
	}
	switch body := body.(type) {
	case *program:
		return body.check()
	case invocation:
		return r.mapsFunctions()
	default:
		return nil
	}
}
