package retention

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Policy sets how long runs are kept after they ended.
type Policy []keepRule

// A keepRule is the age for runs of a flow that ended in a state; a zero field means any.
type keepRule struct {
	flow  string
	state states.Flow // FlowPending means any
	age   time.Duration
}

// forever is an age that no run reaches.
const forever = time.Duration(math.MaxInt64)

// Parse parses --keep flags: [FLOW][:STATE]=AGE, or AGE for all other runs.
func Parse(given []string) (Policy, error) {
	var r Policy
	for _, text := range given {
		rule, err := parseKeep(text)
		if err != nil {
			return nil, err
		}
		for _, other := range r {
			if other.flow == rule.flow && other.state == rule.state {
				return nil, exit.Usagef("--keep %s: how long these are kept was said already", text)
			}
		}
		r = append(r, rule)
	}
	return r, nil
}

func parseKeep(text string) (keepRule, error) {
	var rule keepRule
	what, age := "", text
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		if what, age = text[:i], text[i+1:]; strings.TrimSpace(what) == "" {
			return rule, exit.Usagef("--keep %s: no flow and no state: for all runs, write only the age", text)
		}
	}
	rule.flow = what
	if i := strings.LastIndexByte(what, ':'); i >= 0 {
		rule.flow = what[:i]
		if err := rule.state.UnmarshalText([]byte(strings.ToUpper(what[i+1:]))); err != nil || !rule.state.Ended() {
			return rule, exit.Usagef("--keep %s: %s is no end (use SUCCESS, FAILURE or REVERTED)", text, what[i+1:])
		}
	}
	var ok bool
	if rule.age, ok = parseAge(age); !ok {
		return rule, exit.Usagef("--keep %s: want [FLOW][:STATE]=AGE, such as 30d, :FAILURE=90d or trip:REVERTED=forever",
			text)
	}
	return rule, nil
}

// parseAge parses an age in days (30d), weeks (2w), or as a Go duration.
func parseAge(text string) (time.Duration, bool) {
	if text == "forever" {
		return forever, true
	}
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, is := strings.CutSuffix(text, unit); is {
			n, err := strconv.ParseInt(number, 10, 64)
			return time.Duration(n) * length, err == nil && n >= 0 && n <= int64(forever/length)
		}
	}
	age, err := time.ParseDuration(text)
	return age, err == nil && age >= 0
}

// age returns how long a run that ended is kept. The rule for its flow and state takes precedence, then its flow's,
// its state's, and the general one. Without a rule it is kept for ever.
func (r Policy) age(run *storage.Run) time.Duration {
	best, age := -1, forever
	for _, rule := range r {
		if rule.flow != "" && rule.flow != run.Flow || rule.state != states.FlowPending && rule.state != run.State {
			continue
		}
		rank := 0
		if rule.state != states.FlowPending {
			rank++
		}
		if rule.flow != "" {
			rank += 2
		}
		if rank > best {
			best, age = rank, rule.age
		}
	}
	return age
}
