package grpc

import (
	"fmt"

	"google.golang.org/protobuf/proto"
)

// maxDepth is the maximum nesting of the messages of an answer.
//
//limit:sm4c answer of gRPC: bytes; bytes of its JSON; nesting | 1 MiB; 1 MiB; {} | the call fails
const maxDepth = 100

// A codec writes and reads messages. Unlike the codec of the client's library, it bounds their nesting.
type codec struct{}

// Name returns the subtype of the content type: application/grpc+proto.
func (codec) Name() string { return "proto" }

// Marshal returns the bytes of a message.
func (codec) Marshal(message any) ([]byte, error) {
	m, is := message.(proto.Message)
	if !is {
		return nil, fmt.Errorf("%T is not a message", message)
	}
	return proto.Marshal(m)
}

// Unmarshal reads the bytes of a message.
func (codec) Unmarshal(data []byte, message any) error {
	m, is := message.(proto.Message)
	if !is {
		return fmt.Errorf("%T is not a message", message)
	}
	return proto.UnmarshalOptions{RecursionLimit: maxDepth}.Unmarshal(data, m)
}
