package asl

import "github.com/ebbflow/ebb/internal/jsonpath"

// iterated is what only a Map state has.
type iterated struct {
	path        *jsonpath.Path // ItemsPath; nil: the input itself
	selector    *template      // nil: the item as it is
	processor   *level
	concurrency int64          // 0: all at once
	concPath    *jsonpath.Path // MaxConcurrencyPath
}

// distributedFields belong to Map states whose mode is DISTRIBUTED.
var distributedFields = []string{
	"ItemReader", "ItemBatcher", "ResultWriter", "Label", "ToleratedFailureCount", "ToleratedFailureCountPath",
	"ToleratedFailurePercentage", "ToleratedFailurePercentagePath",
}

// iterated reads what only a Map state has.
func (c *compiler) iterated(s *state) {
	n := s.source
	m := &iterated{}
	s.items = m
	for _, field := range distributedFields {
		if f := n.get(field); f != nil {
			c.unsupported(f, field+" of a distributed Map")
		}
	}
	if p := n.get("ItemsPath"); p != nil {
		if path := c.referencePath(p); path != nil && !isRoot(path) {
			m.path = path
		}
	}
	c.one(n, "ItemSelector", "Parameters")
	if m.selector = c.template(n.get("ItemSelector")); m.selector == nil {
		m.selector = s.parameters
	}
	s.parameters = nil
	c.one(n, "MaxConcurrency", "MaxConcurrencyPath")
	m.concurrency, _ = c.integer(n, "MaxConcurrency", 0, maxSeconds)
	if p := n.get("MaxConcurrencyPath"); p != nil {
		m.concPath = c.referencePath(p)
	}
	processor := c.one(n, "ItemProcessor", "Iterator")
	switch {
	case processor == nil:
		c.schemaf(n, "these fields are required: ItemProcessor")
	case processor.kind != objectNode:
		c.schemaf(processor, "%s must be an object with StartAt and States, found %s", processor.key, processor.kind)
	default:
		c.processor(s, processor)
	}
}

func (c *compiler) processor(s *state, n *node) {
	c.fields(n, "an "+n.key, processorFields)
	if config := n.get("ProcessorConfig"); config != nil {
		if config.kind != objectNode {
			c.schemaf(config, "ProcessorConfig must be an object, found %s", config.kind)
			return
		}
		c.fields(config, "a ProcessorConfig", processorConfig)
		mode, _ := c.text(config, "Mode")
		switch mode {
		case "", "INLINE":
		case "DISTRIBUTED":
			c.unsupported(config.get("Mode"), "a distributed Map")
		default:
			c.schemaf(config.get("Mode"), `Mode must be "INLINE" or "DISTRIBUTED"`)
		}
	}
	s.items.processor = c.level(n, s, s.level)
}
