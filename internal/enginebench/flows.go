package enginebench

import (
	"context"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// payload is the input and the result of each task: 100 bytes.
type payload struct {
	Body string `json:"body"`
}

var (
	bodyKey = atom.NewKey[string]("body")
	body    = strings.Repeat("x", 100-len(`{"body":""}`))
)

type laneKey struct{}

// inLane returns a context whose runs belong to the lane.
func inLane(ctx context.Context, l *lane) context.Context {
	return context.WithValue(ctx, laneKey{}, l)
}

func laneOf(ctx context.Context) *lane {
	l, _ := ctx.Value(laneKey{}).(*lane)
	return l
}

func pass(ctx context.Context, in payload) (payload, error) {
	laneOf(ctx).step()
	return in, nil
}

func undone(ctx context.Context, _ payload, _ atom.Outcome[payload]) error {
	laneOf(ctx).step()
	return nil
}

// steps returns the tasks of a chain, numbered from first to last. Each takes the result of the one before it.
func steps(first, last int) []flow.Node {
	var nodes []flow.Node
	for i := first; i <= last; i++ {
		nodes = append(nodes, atom.Pair(fmt.Sprintf("step%d", i), pass, undone))
	}
	return nodes
}

// errLast is the error of the last step of a run that must be undone.
var errLast = atom.Errorf("Bench.Last", "the last step fails")

// failing returns the tasks of a chain whose last task fails.
func failing(first, last int) []flow.Node {
	return append(steps(first, last-1), atom.Pair(fmt.Sprintf("step%d", last), func(ctx context.Context, _ payload) (
		payload, error,
	) {
		laneOf(ctx).step()
		return payload{}, errLast
	}, undone))
}

// sideBySide returns n tasks that depend only on the input.
func sideBySide(n int) []flow.Node {
	nodes := make([]flow.Node, n)
	for i := range nodes {
		nodes[i] = atom.Func(fmt.Sprintf("step%d", i+1), func(ctx context.Context, in payload) (string, error) {
			laneOf(ctx).step()
			return in.Body, nil
		})
	}
	return nodes
}
