package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// processorRule accepts the processor of a Map state.
type processorRule struct{}

func (processorRule) read(c *checker, n *node) *syntax.Level {
	config := n.Get("ProcessorConfig")
	express := c.Express
	if config != nil && isText(config.Get("ExecutionType"), "EXPRESS") {
		c.Express = true
	}
	l := c.level(processorObject, n, isDistributed(n))
	c.Express = express
	return l
}

// processorOf returns the processor of a Map state.
func processorOf(n *node) *node {
	if processor := n.Get("ItemProcessor"); processor != nil {
		return processor
	}
	return n.Get("Iterator")
}

// isDistributed reports whether a processor runs items as separate executions.
func isDistributed(processor *node) bool {
	config := processor.Get("ProcessorConfig")
	return config != nil && isText(config.Get("Mode"), "DISTRIBUTED")
}

// isText reports whether n exists and is the text.
func isText(n *node, text string) bool { return n != nil && n.Kind == jsontext.String && n.Str == text }

// checkDistributed checks the fields that only distributed Map states have.
func checkDistributed(c *checker, n *node, s *syntax.State) {
	processor := processorOf(n)
	if processor == nil || processor.Kind != jsontext.Object {
		return
	}
	config := processor.Get("ProcessorConfig")
	switch {
	case !isDistributed(processor):
		undistributed(c, n, config)
	case config.Get("ExecutionType") == nil:
		c.Fixf(ruleDistributed, config, "STANDARD or EXPRESS", "a distributed Map needs ExecutionType")
	}
	if c.Express && isDistributed(processor) {
		c.Valuef(ruleExpress, config.Get("Mode"),
			"The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines")
	}
	if !isDistributed(processor) {
		s.Items.Distributed = nil
		return
	}
	d := s.Items.Distributed
	d.Express = isText(config.Get("ExecutionType"), "EXPRESS")
	if d.Named = n.Get("Label") != nil; !d.Named {
		d.Label = expression.NamedUUID(s.Name)
	}
}

func undistributed(c *checker, n, config *node) {
	const fix = `set "Mode": "DISTRIBUTED" in ItemProcessor's ProcessorConfig`
	for _, field := range []string{"ItemReader", "ItemBatcher", "ResultWriter", "Label"} {
		if v := n.Get(field); v != nil {
			c.Fixf(ruleDistributed, v, fix, "%s is for a distributed Map", field)
		}
	}
	if config != nil && config.Get("Mode") != nil && !isText(config.Get("Mode"), "INLINE") {
		return // which mode is meant is not known
	}
	if config != nil && config.Get("ExecutionType") != nil {
		c.Fixf(ruleDistributed, config.Get("ExecutionType"), fix, "ExecutionType is for a distributed Map")
	}
	for _, field := range []string{"ToleratedFailureCount", "ToleratedFailurePercentage"} {
		for _, name := range []string{field, field + "Path"} {
			if v := n.Get(name); v != nil {
				c.Fixf(ruleTolerated, v, fix, "%s has no effect: the first failure ends a Map that is not distributed", name)
			}
		}
	}
}

// checkHeaders checks a ReaderConfig with headers.
func checkHeaders(c *checker, n *node, _ *syntax.ItemReaderConfig) {
	location := n.Get("CSVHeaderLocation")
	switch {
	case isText(location, "GIVEN") && n.Get("CSVHeaders") == nil:
		c.Valuef(ruleHeaders, n, "CSVHeaders must be there, for CSVHeaderLocation is GIVEN")
	case isText(n.Get("InputType"), "CSV") && location == nil:
		c.Fixf(ruleHeaders, n, "FIRST_ROW or GIVEN", "CSVHeaderLocation must be there, for InputType is CSV")
	case isText(n.Get("InputType"), "JSON") && location != nil:
		c.Valuef(ruleHeaders, location, "CSVHeaderLocation is for the InputType CSV")
	}
}

// checkBatchLimit checks the required limits of an ItemBatcher.
func checkBatchLimit(c *checker, n *node, _ *syntax.ItemBatcher) {
	for _, field := range []string{
		"MaxItemsPerBatch", "MaxItemsPerBatchPath", "MaxInputBytesPerBatch",
		"MaxInputBytesPerBatchPath",
	} {
		if n.Get(field) != nil {
			return
		}
	}
	c.Valuef(ruleBatcherLimit, n,
		"one of MaxItemsPerBatch, MaxItemsPerBatchPath, MaxInputBytesPerBatch, MaxInputBytesPerBatchPath must be there")
}

// labelRule accepts the Label of a distributed Map.
type labelRule struct{}

const (
	maxLabel      = 40 // characters
	labelExcludes = "?*<>{}[]:;,\\|^~$#%&`\""
)

func (labelRule) read(c *checker, n *node) string {
	if hasPlaceholder(c, n) || !c.isText(n) {
		return ""
	}
	illegal := strings.IndexFunc(n.Str, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(labelExcludes, r)
	})
	switch length := utf8.RuneCountInString(n.Str); {
	case length == 0:
		c.Valuef(ruleLabel, n, "Label must not be empty")
	case length > maxLabel:
		c.Valuef(ruleLabel, n, "Label has %d characters; %d is the most", length, maxLabel)
	case illegal >= 0:
		r, _ := utf8.DecodeRuneInString(n.Str[illegal:])
		c.Valuef(ruleLabel, n, "Label has the character %q, which it may not have", r)
	}
	if first := c.labels[n.Str]; first != nil {
		c.Valuef(ruleLabelOnce, n, "the Label %s is taken in line %d", jsontext.Quote(n.Str), c.Line(ruleLabelOnce, first))
	} else {
		c.labels[n.Str] = n
	}
	return n.Str
}
