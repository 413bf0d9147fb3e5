package check

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// errorsRule accepts an ErrorEquals.
type errorsRule struct{}

func (errorsRule) read(c *checker, n *node) []string {
	if n.Kind != jsontext.Array || len(n.Items) == 0 {
		c.Valuef(ruleEmpty, n, "ErrorEquals must be an array of at least one error's name")
		return nil
	}
	entry := n.Parent
	last := entry.Parent == nil || entry.Index == len(entry.Parent.Items)-1
	for _, item := range n.Items {
		switch {
		case hasPlaceholder(c, item):
		case item.Kind != jsontext.String || item.Str == "":
			c.Valuef(ruleType, item, "an error's name must be a string that is not empty")
		case item.Str == stateerror.All && (len(n.Items) > 1 || !last):
			c.Valuef(ruleStatesAll, item, "States.ALL must stand alone, and in the last entry")
		case stateerror.Reserved(item.Str):
			c.Fixf(ruleUnknownError, item, c.DidYouMean(ruleUnknownError, item.Str, stateerror.Known, plainly),
				"the language has no error %s", jsontext.Quote(item.Str))
		}
	}
	return textsOf(n)
}

// checkMaxDelay compares the delays of a retrier.
func checkMaxDelay(c *checker, n *node, r *syntax.Retrier) {
	if r.Most > 0 && r.Most <= r.Interval {
		c.Valuef(ruleMaxDelay, n.Get("MaxDelaySeconds"), "MaxDelaySeconds must be greater than IntervalSeconds")
	}
}

func placeRetrier(_ *checker, n *node, r *syntax.Retrier) { r.At = n.At }

func placeCatcher(_ *checker, n *node, k *syntax.Catcher) { k.At = n.At }

// checkUnused warns of entries of Retry and Catch that never apply, because entries before them match all errors.
func checkUnused(c *checker, n *node, _ *syntax.State) {
	for _, field := range []string{"Retry", "Catch"} {
		list := n.Get(field)
		if list == nil {
			continue
		}
		taken := map[string]bool{}
		for _, entry := range list.Items {
			names := textsOf(entry.Get("ErrorEquals"))
			for _, name := range names {
				if !c.Profile.Rules().AllMatchesAll && name == stateerror.Runtime {
					c.Valuef(ruleUnused, entry, "States.Runtime cannot be handled, so %s never sees it", field)
				}
			}
			if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !isTaken(name, taken) }) {
				c.Valuef(ruleUnused, entry, "this entry of %s is never used: those before it take %s", field,
					strings.Join(names, ", "))
			}
			for _, name := range names {
				taken[name] = true
			}
		}
	}
}

// isTaken reports whether earlier entries match every error with that name.
func isTaken(name string, taken map[string]bool) bool {
	return taken[name] ||
		taken[stateerror.Timeout] && name == stateerror.HeartbeatTimeout ||
		taken[stateerror.TaskFailed] && !strings.HasPrefix(name, "States.") && name != atom.CodeRevertFailed
}

// textsOf returns the texts in an array.
func textsOf(n *node) []string {
	var out []string
	if n != nil {
		for _, item := range n.Items {
			out = appendText(out, item)
		}
	}
	return out
}
