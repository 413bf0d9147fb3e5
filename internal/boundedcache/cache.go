// Package boundedcache keeps the values that were used last, up to a total weight.
package boundedcache

import (
	"container/list"
	"sync"
)

// A Cache keeps values by key. If the sum of their weights exceeds the limit, it drops the values that were not used
// for longest. Any number of goroutines may use it.
type Cache[K comparable, V any] struct {
	limit int64

	mu     sync.Mutex
	weight int64
	byKey  map[K]*list.Element
	order  list.List // of *entry; the last used one comes first
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int64
}

// New returns a cache whose values have at most that total weight.
func New[K comparable, V any](limit int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, byKey: map[K]*list.Element{}}
}

// Get returns the value of a key, and whether the cache has one.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byKey[key]
	if at == nil {
		return value, false
	}
	c.order.MoveToFront(at)
	return c.entryAt(at).value, true
}

// Add keeps a value of a weight, unless the cache has a value of that key. It returns the value that the cache has
// then, so that callers that made the same value at the same time all use one of them.
func (c *Cache[K, V]) Add(key K, value V, weight int64) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.byKey[key]; at != nil {
		return c.entryAt(at).value
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, weight})
	c.weight += weight
	c.shrink()
	return value
}

// Weigh changes the weight of the value of a key, if the cache has one.
func (c *Cache[K, V]) Weigh(key K, weight int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.byKey[key]; at != nil {
		e := c.entryAt(at)
		c.weight += weight - e.weight
		e.weight = weight
		c.shrink()
	}
}

// shrink drops the values that were not used for longest, but keeps one.
func (c *Cache[K, V]) shrink() {
	for c.weight > c.limit && c.order.Len() > 1 {
		last := c.entryAt(c.order.Back())
		c.order.Remove(c.order.Back())
		delete(c.byKey, last.key)
		c.weight -= last.weight
	}
}

func (c *Cache[K, V]) entryAt(at *list.Element) *entry[K, V] {
	e, is := at.Value.(*entry[K, V])
	if !is {
		panic("boundedcache: a foreign element") // a defect of this file
	}
	return e
}
