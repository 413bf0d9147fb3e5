package sfn

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// An alias is the record of an alias.
type alias struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Routes      []route   `json:"routes"`
	Updated     time.Time `json:"updated,omitzero"` // if it was

	record storage.NamedRecord
}

// A route is a share of an alias.
type route struct {
	Version int `json:"version"`
	Weight  int `json:"weight"` // in percent
}

const fullWeight = 100 // sum of the weights of an alias

func (s *Server) aliasKey(machine, alias string) string { return s.key(machine) + ":" + alias }

// alias returns an alias of a machine, or [storage.ErrNotFound].
func (s *Server) alias(ctx context.Context, machine, name string) (*alias, error) {
	a := &alias{}
	var err error
	a.record, err = s.records.Read(ctx, aliasKind, s.aliasKey(machine, name), a)
	return a, err
}

// aliases returns the aliases of a machine, by name.
func (s *Server) aliases(ctx context.Context, machine string) ([]*alias, error) {
	var all []*alias
	query := storage.RecordQuery{Kind: aliasKind, Prefix: s.key(machine) + ":"}
	for record, err := range storage.EachRecord(ctx, s.store, query) {
		if err != nil {
			return nil, err
		}
		a := &alias{record: record}
		if err := records.Decode(&record, a); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// updated returns when the alias has become what it is.
func (a *alias) updated() *aws.Time {
	if a.Updated.IsZero() {
		return aws.At(a.record.Created)
	}
	return aws.At(a.Updated)
}

// uses reports whether the alias routes to a version.
func (a *alias) uses(version int) bool {
	return slices.ContainsFunc(a.Routes, func(r route) bool { return r.Version == version })
}

// route returns a version at random, by weight.
func (a *alias) route() int {
	at := rand.IntN(fullWeight) //nolint:gosec // it only spreads executions
	for _, r := range a.Routes {
		if at -= r.Weight; at < 0 {
			return r.Version
		}
	}
	return a.Routes[0].Version
}

// A routeParameter is a RoutingConfigurationListItem.
type routeParameter struct {
	VersionARN string `json:"stateMachineVersionArn"`
	Weight     int    `json:"weight"`
}

// routing returns the machine and the routes of a RoutingConfiguration, or AWS's error.
func (s *Server) routing(in []routeParameter) (*address, []route, error) {
	refuse := func(format string, args ...any) error {
		return invalid("INVALID_ROUTING_CONFIGURATION", format, args...)
	}
	var arns, weights []string
	sum := 0
	for _, r := range in {
		arns, weights, sum = append(arns, r.VersionARN), append(weights, strconv.Itoa(r.Weight)), sum+r.Weight
	}
	received := "Received: [" + strings.Join(arns, ", ") + "]"
	if len(in) > 1 && arns[0] == arns[1] {
		return nil, nil, refuse("Routing configuration must contain distinct state machine version ARNs. %s", received)
	}
	var machine *address
	var routes []route
	for _, r := range in {
		a, err := s.machineAddress(r.VersionARN)
		if err != nil {
			return nil, nil, err
		}
		if a.version() == 0 {
			return nil, nil, refuse("Routing configuration must contain state machine version ARNs. %s", received)
		}
		if machine == nil {
			machine = a
		}
		if a.name != machine.name || a.ours != machine.ours {
			return nil, nil, refuse("Routing configuration must contain versions of one state machine. %s", received)
		}
		routes = append(routes, route{a.version(), r.Weight})
	}
	if sum != fullWeight {
		return nil, nil, refuse("Sum of routing configuration weights must equal %d. Received: [%s]", fullWeight,
			strings.Join(weights, ", "))
	}
	return machine, routes, nil
}

// checkRoutes returns AWS's error if a version of the routes does not exist.
func (s *Server) checkRoutes(ctx context.Context, m *machine, routes []route) error {
	for _, r := range routes {
		_, err := s.version(ctx, m.Name, r.Version)
		if errors.Is(err, storage.ErrNotFound) {
			return noReference(s.versionARN(m.Name, r.Version))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// routesOf returns the RoutingConfiguration of an alias.
func (s *Server) routesOf(machine string, a *alias) []routeParameter {
	out := make([]routeParameter, len(a.Routes))
	for i, r := range a.Routes {
		out[i] = routeParameter{s.versionARN(machine, r.Version), r.Weight}
	}
	return out
}
