module github.com/ebbflow/ebb/engine/grpc/interop

go 1.26.0

require (
	github.com/ebbflow/ebb v0.0.0
	github.com/ebbflow/ebb/engine/grpc v0.0.0
	// Saves: the standard details of a status
	// Refused: our own messages
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1
	// Saves: the server that others use, to call
	// Refused: a server of `connectrpc.com/connect`: would share the client's reading of the protocol
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	connectrpc.com/connect v1.21.1 // indirect
	github.com/bufbuild/protocompile v0.14.1 // indirect
	github.com/fatih/color v1.13.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hashicorp/go-hclog v1.6.3 // indirect
	github.com/itchyny/gojq v0.12.20 // indirect
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace (
	github.com/ebbflow/ebb => ../../..
	github.com/ebbflow/ebb/engine/grpc => ..
)
