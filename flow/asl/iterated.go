package asl

import "github.com/ebbflow/ebb/internal/jsontext"

import "github.com/ebbflow/ebb/internal/jsonpath"

// iterated is what only a Map state has.
type iterated struct {
	path        *jsonpath.Path // ItemsPath
	items       payload        // Items; nil, without a path, too: the input itself
	selector    payload        // nil: the item as it is
	processor   *level
	concurrency amount       // 0: all at once
	distributed *distributed // nil: the items run in the machine itself
}

// iterated compiles what only a Map state has.
func (c *compiler) iterated(s *state) {
	n := s.source
	m := &iterated{
		items:       documentOf(n.Get("Items")),
		path:        jsontext.Meaning[*jsonpath.Path](n.Get("ItemsPath")),
		selector:    s.payload(n.Get("ItemSelector")),
		concurrency: amountOf(n, "MaxConcurrency"),
	}
	s.items = m
	if m.path != nil && isRoot(m.path) {
		m.path = nil
	}
	if m.selector == nil {
		m.selector = s.arguments
	}
	s.arguments = nil
	m.processor = c.level(processorOf(n), s)
	if isDistributed(processorOf(n)) {
		m.distributed = distributedOf(s)
	}
}
