package awsshape

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A shape describes the form of a value.
type shape struct {
	kind   byte // the first character of its line
	words  []string
	of     *shape // of the elements of an array, or of an object's values
	fields []field
	name   string // of another shape, if kind is '@'

	least, most json.Number // of a number, or of a length; "" for no limit
}

type field struct {
	name     string
	shape    *shape
	required bool
}

// Check compares an answer of an operation with the shape of the service's answers. The service, the action and the
// pattern are those of the integration's ARN, such as lambda, invoke and "", or aws-sdk:s3, getObject and "". With the
// pattern .sync or .sync:2, the answer is that of the operation with which Step Functions checks whether the job has
// ended, such as describeExecution. Check returns the fault in the words of AWS. The answer is a JSON tree with numbers
// as [json.Number]. It may have fields that the service does not have. If strict, it must have the required ones. Check
// accepts any answer of an unknown operation, and any that a token brings.
func Check(service, action, pattern string, answer any, strict bool) error {
	key, sdk := strings.CutPrefix(service, "aws-sdk:")
	c := checker{strict: strict, written: pascal}
	if !sdk {
		c.written, c.free = upperFirst, parsed[service+":"+action+pattern]
		if other, ok := optimized[service]; ok {
			key = other
		}
	}
	if pattern != "" {
		if action = polled[service+":"+action]; action == "" || !strings.HasPrefix(pattern, ".sync") {
			return nil
		}
	}
	if c.service = serviceOf(key); c.service == nil {
		return nil
	}
	s := c.service.Shape(action)
	if s == nil {
		return nil
	}
	if _, ok := answer.(map[string]any); !ok {
		return errors.New("Mock result must be a valid JSON object") //nolint:staticcheck // AWS's words
	}
	return c.check(s, "", answer)
}

// A checker compares values with the shapes of one service.
type checker struct {
	service *service
	strict  bool
	written func(name string) string // how the integration writes the names of the model
	free    []string                 // the fields that may have any value
}

func (c *checker) check(s *shape, name string, value any) error {
	if s.kind == '@' {
		if s = c.service.Shape("@" + s.name); s == nil {
			return nil
		}
	}
	if s.kind == '*' {
		return nil
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
			return c.elements(s, name, v)
		}
	case string:
		if s.kind == 's' {
			return s.checkText(name, v)
		}
	case json.Number:
		if s.kind == 'n' || s.kind == 'i' {
			return s.checkNumber(name, v)
		}
	case bool:
		if s.kind == 'b' {
			return nil
		}
	}
	return invalid(name, "must be "+kindNames[s.kind])
}

var kindNames = map[byte]string{
	's': "a string", 'n': "a number", 'i': "a number", 'b': "a boolean", '[': "an array", '<': "an object",
	'{': "an object",
}

// invalid returns the error for a field, in AWS's words if they are known.
func invalid(field, why string) error {
	//nolint:staticcheck // AWS's words
	return fmt.Errorf("Mock result schema validation error: Field '%s' %s", field, why)
}

func (c *checker) elements(s *shape, name string, array []any) error {
	if err := s.checkLength(name, len(array)); err != nil {
		return err
	}
	for _, element := range array {
		if err := c.check(s.of, name, element); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) values(s *shape, name string, object map[string]any) error {
	if err := s.checkLength(name, len(object)); err != nil {
		return err
	}
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
		if of := known[name]; of != nil && !slices.Contains(c.free, name) {
			if err := c.check(of, name, object[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
