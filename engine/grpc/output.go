package grpc

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/ebbflow/ebb/atom"
)

// output returns the JSON of an answer.
func (c *call) output(message *dynamicpb.Message) (atom.Value, error) {
	if size := atLeast(message, atom.MaxValue); size > atom.MaxValue {
		return nil, atom.Errorf(atom.CodeTooLarge, "the answer of %s is larger than %d bytes", c.target.Host, atom.MaxValue)
	}
	text, err := protojson.MarshalOptions{Resolver: c.types, EmitDefaultValues: true}.Marshal(message)
	if err == nil {
		text, err = compact(text)
	}
	switch {
	case err != nil:
		return nil, atom.Errorf(atom.CodeBadResult, "the answer of %s has no JSON: %w", c.target.Host, err)
	case len(text) > atom.MaxValue:
		return nil, atom.Errorf(atom.CodeTooLarge, "the answer of %s is larger than %d bytes", c.target.Host, atom.MaxValue)
	}
	return atom.FromJSON(text), nil
}

// atLeast returns a lower bound of the size of a message in JSON. It stops when the bound exceeds most. A short answer
// can have a large JSON form, because JSON repeats the names of fields and enum values.
func atLeast(message protoreflect.Message, most int) int {
	size := 0
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !message.Has(field) {
			if !field.HasPresence() {
				size += len(field.JSONName())
			}
			continue
		}
		size += len(field.JSONName())
		value := message.Get(field)
		switch {
		case field.IsList():
			for k := range value.List().Len() {
				if size += sizeOf(field, value.List().Get(k), most-size); size > most {
					return size
				}
			}
		case field.IsMap():
			value.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
				size += len(key.String()) + sizeOf(field.MapValue(), v, most-size)
				return size <= most
			})
		default:
			size += sizeOf(field, value, most-size)
		}
		if size > most {
			return size
		}
	}
	return size
}

// sizeOf returns a lower bound of the size of one value in JSON.
func sizeOf(field protoreflect.FieldDescriptor, v protoreflect.Value, most int) int {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return 1 + atLeast(v.Message(), most)
	case protoreflect.StringKind:
		return len(v.String())
	case protoreflect.BytesKind:
		return len(v.Bytes())
	case protoreflect.EnumKind:
		if named := field.Enum().Values().ByNumber(v.Enum()); named != nil {
			return len(named.Name())
		}
	default: // a number or a truth value
	}
	return 1
}
