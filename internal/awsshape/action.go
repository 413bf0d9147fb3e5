package awsshape

import (
	_ "embed" // the actions
	"slices"
	"strings"
	"sync"

	"github.com/ebbflow/ebb/internal/awslines"
)

//go:embed actions.zip
var actionArchive []byte

// An Action describes the parameters of an operation of a service. Names are spelled as in SDK integrations.
type Action struct {
	Required []string
	Known    []string // including the required ones
}

// Services returns the names of the services in the ARNs of SDK integrations, in order. AWS may have more. The caller
// must not change the list.
var Services = sync.OnceValue(func() []string { return awslines.Files(actionArchive) })

var (
	actionsMu sync.Mutex
	actions   = map[string]map[string]*Action{}
)

// Actions returns the operations of a service by their names in ARNs, such as getObject, or nil for an unknown service.
func Actions(service string) map[string]*Action {
	actionsMu.Lock()
	defer actionsMu.Unlock()
	if of, ok := actions[service]; ok {
		return of
	}
	if _, known := slices.BinarySearch(Services(), service); !known {
		return nil
	}
	of := map[string]*Action{}
	for line := range strings.Lines(awslines.Text(actionArchive, service)) {
		a := &Action{}
		words := strings.Fields(line)
		for _, word := range words[1:] {
			name, required := strings.CutSuffix(word, "!")
			if a.Known = append(a.Known, name); required {
				a.Required = append(a.Required, name)
			}
		}
		of[words[0]] = a
	}
	actions[service] = of
	return of
}
