package awsshape

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A shape is what a value looks like.
type shape struct {
	kind   byte // the first character of its line
	words  []string
	of     *shape // of the elements of an array, or of an object's values
	fields []field
	name   string // of another shape, if kind is '@'
}

type field struct {
	name     string
	shape    *shape
	required bool
}

// Check compares an answer of an operation with the shape of the service's answers. The service and the action are
// those of the integration's ARN, such as lambda and invoke, or aws-sdk:s3 and getObject. Check returns what is wrong
// in the words of AWS. The answer is a JSON tree with numbers as [json.Number]. Fields that the service does not have
// are fine. If strict, the required ones must be there. Check accepts any answer of an operation that it does not know.
func Check(service, action string, answer any, strict bool) error {
	key, sdk := strings.CutPrefix(service, "aws-sdk:")
	c := checker{strict: strict, written: pascal}
	if !sdk {
		c.written = upperFirst
		if unchecked[service] {
			return nil
		}
		if other, ok := optimized[service]; ok {
			key = other
		}
	}
	if c.service = serviceOf(key); c.service == nil {
		return nil
	}
	s := c.service.shape(action)
	if s == nil {
		return nil
	}
	if _, ok := answer.(map[string]any); !ok {
		return errors.New("Mock result must be a valid JSON object") //nolint:staticcheck // AWS's words
	}
	return c.check(s, "", answer)
}

// unchecked are the optimized integrations whose answers AWS does not check, or shapes differently from the service.
var unchecked = map[string]bool{"apigateway": true, "bedrock": true, "eks": true, "http": true}

// A checker compares values with the shapes of one service.
type checker struct {
	service *service
	strict  bool
	written func(name string) string // how the integration writes the names of the model
}

func (c *checker) check(s *shape, name string, value any) error {
	if s.kind == '@' {
		if s = c.service.shape("@" + s.name); s == nil {
			return nil
		}
	}
	switch v := value.(type) {
	case map[string]any:
		switch s.kind {
		case '<':
			return c.values(s, name, v)
		case '{':
			return c.members(s, v)
		}
	case []any:
		if s.kind == '[' {
			for _, element := range v {
				if err := c.check(s.of, name, element); err != nil {
					return err
				}
			}
			return nil
		}
	case string:
		if s.kind == 's' && len(s.words) > 0 && !slices.Contains(s.words, v) {
			//nolint:staticcheck // AWS's words
			return fmt.Errorf("Mock result schema validation error: Field '%s' is not an expected value", name)
		}
		if s.kind == 's' {
			return nil
		}
	case json.Number:
		if s.kind == 'n' {
			return nil
		}
	case bool:
		if s.kind == 'b' {
			return nil
		}
	}
	if s.kind == '*' {
		return nil
	}
	//nolint:staticcheck // AWS's words
	return fmt.Errorf("Mock result schema validation error: Field '%s' must be %s", name, kindNames[s.kind])
}

var kindNames = map[byte]string{
	's': "a string", 'n': "a number", 'b': "a boolean", '[': "an array", '<': "an object",
	'{': "an object",
}

func (c *checker) values(s *shape, name string, object map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if err := c.check(s.of, name, object[key]); err != nil {
			return err
		}
	}
	return nil
}

// members checks the required fields in the order of the model, and then each field in the order of their names.
func (c *checker) members(s *shape, object map[string]any) error {
	known := make(map[string]*shape, len(s.fields))
	for i := range s.fields {
		f := &s.fields[i]
		name := c.written(f.name)
		known[name] = f.shape
		if _, ok := object[name]; !ok && f.required && c.strict {
			//nolint:staticcheck // AWS's words
			return fmt.Errorf("Mock result schema validation error: Required field '%s' is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if of := known[name]; of != nil {
			if err := c.check(of, name, object[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
