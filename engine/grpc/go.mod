module github.com/ebbflow/ebb/engine/grpc

go 1.26.0

require (
	// Saves: gRPC's protocol over `net/http`
	// Weight: 2, 6.6 MB with `net/http`; module `engine/grpc`
	// Refused: `google.golang.org/grpc`: 10.4 MB
	connectrpc.com/connect v1.21.1
	// Saves: `.proto` text to descriptors, without protoc
	// Weight: 3, 4.2 MB; module `engine/grpc`
	// Refused: `jhump/protoreflect/v2`: a beta that brings `google.golang.org/grpc`
	github.com/bufbuild/protocompile v0.14.1
	github.com/ebbflow/ebb v0.0.0
	// Saves: messages whose schema is known at run time, and their JSON
	// Weight: 1, in the weight of connect
	// Refused: our own encoding
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/hashicorp/go-hclog v1.6.3 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)
