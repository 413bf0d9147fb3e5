package asl

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// A retrier is one entry of Retry.
type retrier struct {
	errors   []string
	interval time.Duration
	attempts int64
	rate     float64
	most     time.Duration // MaxDelaySeconds; 0: no bound but the language's
	jitter   bool
}

// A catcher is one entry of Catch.
type catcher struct {
	errors     []string
	next       *state
	resultPath resultPath
	assign     *template
}

// delay returns how long to wait before the n-th retry, counted from 1.
func (r *retrier) delay(n int, random func() uint64) time.Duration {
	most := maxSeconds * time.Second
	if r.most > 0 {
		most = r.most
	}
	delay := most
	if d := float64(r.interval) * math.Pow(r.rate, float64(n-1)); d < float64(most) {
		delay = time.Duration(d)
	}
	if r.jitter {
		delay = time.Duration(float64(delay) * (float64(random()>>11) / (1 << 53)))
	}
	return delay
}

// matchesAny reports whether an entry of ErrorEquals is meant for the fault.
func (f *fault) matchesAny(entries []string) bool {
	return slices.ContainsFunc(entries, f.matches)
}

// retriers reads Retry.
func (c *compiler) retriers(s *state) {
	for i, n := range c.list(s.source, "Retry") {
		c.fields(n, "a retrier", retrierFields)
		r := retrier{
			errors:   c.errorEquals(n, i == len(s.source.get("Retry").items)-1),
			interval: time.Second, attempts: 3, rate: 2,
		}
		if v, ok := c.seconds(n, "IntervalSeconds", 1); ok {
			r.interval = time.Duration(v) * time.Second
		}
		if v, ok := c.integer(n, "MaxAttempts", 0, maxSeconds); ok {
			r.attempts = v
		}
		if v := n.get("BackoffRate"); v != nil {
			rate, err := strconv.ParseFloat(v.str, 64)
			if v.kind != numberNode || err != nil || rate < 1 {
				c.schemaf(v, "BackoffRate must be a number of at least 1")
			}
			r.rate = rate
		}
		if v, ok := c.integer(n, "MaxDelaySeconds", 1, 31_622_400); ok {
			if r.most = time.Duration(v) * time.Second; r.most <= r.interval {
				c.schemaf(n.get("MaxDelaySeconds"), "MaxDelaySeconds must be greater than IntervalSeconds")
			}
		}
		if v := n.get("JitterStrategy"); v != nil {
			if v.kind != stringNode || v.str != "FULL" && v.str != "NONE" {
				c.schemaf(v, `JitterStrategy must be "FULL" or "NONE"`)
			}
			r.jitter = v.str == "FULL"
		}
		s.retry = append(s.retry, r)
	}
}

// catchers reads Catch.
func (c *compiler) catchers(s *state) {
	for i, n := range c.list(s.source, "Catch") {
		c.fields(n, "a catcher", catcherFields)
		k := catcher{
			errors:     c.errorEquals(n, i == len(s.source.get("Catch").items)-1),
			resultPath: c.resultPath(n),
			assign:     c.assign(s.level, n.get("Assign")),
		}
		if next := n.get("Next"); next != nil {
			k.next = c.target(s.level, next)
		} else {
			c.schemaf(n, "a catcher needs Next")
		}
		s.catch = append(s.catch, k)
	}
}

// list returns the objects of a field that must be an array of objects if it is
// there.
func (c *compiler) list(o *node, field string) []*node {
	n := o.get(field)
	if n == nil {
		return nil
	}
	if n.kind != arrayNode {
		c.schemaf(n, "%s must be an array, found %s", field, n.kind)
		return nil
	}
	objects := make([]*node, 0, len(n.items))
	for _, item := range n.items {
		if item.kind != objectNode {
			c.schemaf(item, "an entry of %s must be an object, found %s", field, item.kind)
			continue
		}
		objects = append(objects, item)
	}
	return objects
}

// errorEquals reads the names of errors that a retrier or catcher is for.
func (c *compiler) errorEquals(o *node, last bool) []string {
	n := o.get("ErrorEquals")
	if n == nil {
		c.schemaf(o, "these fields are required: ErrorEquals")
		return nil
	}
	if n.kind != arrayNode || len(n.items) == 0 {
		c.schemaf(n, "ErrorEquals must be an array of at least one error's name")
		return nil
	}
	names := make([]string, 0, len(n.items))
	for _, item := range n.items {
		switch {
		case item.kind != stringNode || item.str == "":
			c.schemaf(item, "an error's name must be a string that is not empty")
			continue
		case item.str == statesAll && (len(n.items) > 1 || !last):
			c.schemaf(item, "States.ALL must stand alone, and in the last entry")
		case reserved(item.str):
			fix := ""
			if near := nearest(item.str, knownErrors); near != "" {
				fix = "did you mean " + near + "?"
			}
			c.warnf(SchemaValidationFailed, item, fix, "the language has no error %s", quote(item.str))
		}
		names = append(names, item.str)
	}
	return names
}
