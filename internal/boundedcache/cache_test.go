package boundedcache_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/boundedcache"
)

// TestCache adds values beyond the limit: the values that were not used for longest are dropped, and one value is
// kept even if it is heavier than the limit.
func TestCache(t *testing.T) {
	c := boundedcache.New[string, int](10)
	has := func(want string) {
		t.Helper()
		got := ""
		for _, key := range []string{"a", "b", "c", "d"} {
			if _, ok := c.Get(key); ok {
				got += key
			}
		}
		if got != want {
			t.Errorf("the cache has %q, want %q", got, want)
		}
	}
	c.Add("a", 1, 4)
	c.Add("b", 2, 4)
	if n := c.Add("a", 9, 4); n != 1 {
		t.Errorf("the second value of a key replaced the first: %d", n)
	}
	has("ab")
	c.Get("a")
	c.Add("c", 3, 2)
	has("abc")
	c.Get("a")
	c.Add("d", 4, 5)
	has("ad")
	c.Add("b", 5, 100)
	has("b")
	c.Weigh("b", 3)
	c.Add("c", 6, 4)
	has("bc")
	c.Weigh("c", 8)
	has("c")
	c.Weigh("a", 100)
	has("c")
}
