module github.com/ebbflow/ebb/server/lambda/interop

go 1.26.0

require (
	// Saves: AWS's own runtime of functions in Go
	// Refused: a bootstrap of our own: would share the server's reading of the Runtime API
	github.com/aws/aws-lambda-go v1.55.1
	github.com/aws/aws-sdk-go-v2 v1.48.0
	github.com/aws/aws-sdk-go-v2/credentials v1.20.16
	// Saves: AWS's own client of Lambda
	// Refused: requests of our own: would share the server's reading of the protocol
	github.com/aws/aws-sdk-go-v2/service/lambda v1.115.0
	github.com/aws/aws-sdk-go-v2/service/sfn v1.41.2
)

require (
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.27 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.12 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.12 // indirect
	github.com/aws/smithy-go v1.28.9 // indirect
)
