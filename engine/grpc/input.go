package grpc

import (
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// input returns the message for the JSON of a task's input. If the input is wrong, the failure names the field.
func (c *call) input(in atom.Value) (*dynamicpb.Message, error) {
	text, err := compact(in.JSON())
	if err != nil {
		return nil, atom.Errorf(CodeArgument, "the arguments are not JSON: %w", err)
	}
	if string(text) == "null" {
		text = []byte("{}")
	}
	message := dynamicpb.NewMessage(c.method.Input())
	err = protojson.UnmarshalOptions{Resolver: c.types, RecursionLimit: maxDepth}.Unmarshal(text, message)
	if err != nil {
		return nil, atom.Errorf(CodeArgument, "%s", wrongField(text, err, string(c.method.Input().FullName())))
	}
	return message, nil
}

// place finds the line and the column in an error of the decoder. The input has one line.
var place = regexp.MustCompile(`^proto:\s*(?:syntax error\s*)?\(line \d+:(\d+)\):\s*`)

// wrongField says what is wrong with an input, and names the field by its path, such as lines[2].price.
func wrongField(text []byte, err error, message string) string {
	// The decoder writes blanks of two kinds, at random
	said := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	found := place.FindStringSubmatch(said)
	if found == nil {
		return "the arguments are not a " + message + ": " + strings.TrimPrefix(said, "proto: ")
	}
	said = said[len(found[0]):]
	column, _ := strconv.Atoi(found[1]) // the expression matches digits only
	field := fieldAt(text, column-1)
	if field == "" {
		return "the arguments are not a " + message + ": " + said
	}
	return "the argument " + field + ": " + said + " (" + message + ")"
}

// fieldAt returns the path of the innermost member that contains an offset, or "".
func fieldAt(text []byte, offset int) string {
	node, err := jsontext.Parse(text, jsonDepth)
	if err != nil {
		return ""
	}
	field := ""
	for node != nil {
		var next *jsontext.Node
		for _, m := range node.Members {
			if m.Value.At <= offset && offset < m.Value.End || m.At <= offset && offset < m.Value.At {
				if next = m.Value; field != "" {
					field += "."
				}
				field += m.Name
				break
			}
		}
		for i, item := range node.Items {
			if item.At <= offset && offset < item.End {
				next, field = item, field+"["+strconv.Itoa(i)+"]"
				break
			}
		}
		node = next
	}
	return field
}

// jsonDepth is the maximum nesting of an input that is searched: two levels for each message, one for its list.
const jsonDepth = 2*maxDepth + 1
