// Package failpoint lets tests intervene at named places: a crash test kills its own process there, a race test waits
// there. Only tests arm places. A place that is not armed costs one atomic load.
package failpoint

import (
	"maps"
	"sync"
	"sync/atomic"
)

var armed atomic.Pointer[map[string]func()]

var arming sync.Mutex

// Hit calls the function that is armed at the place, if any.
func Hit(place string) {
	if m := armed.Load(); m != nil {
		if f := (*m)[place]; f != nil {
			f()
		}
	}
}

// Arm makes every Hit of the place call f. It returns a function that disarms the place.
func Arm(place string, f func()) (disarm func()) {
	set(place, f)
	return func() { set(place, nil) }
}

// ArmNth makes the nth Hit of the place, counted from 1, call f.
func ArmNth(place string, nth int64, f func()) (disarm func()) {
	var hits atomic.Int64
	return Arm(place, func() {
		if hits.Add(1) == nth {
			f()
		}
	})
}

func set(place string, f func()) {
	arming.Lock()
	defer arming.Unlock()
	next := map[string]func(){}
	if m := armed.Load(); m != nil {
		maps.Copy(next, *m)
	}
	next[place] = f
	armed.Store(&next)
}
