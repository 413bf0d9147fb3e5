module github.com/ebbflow/ebb/server/sfn/interop

go 1.26.0

require (
	// Saves: the settings and the signer of AWS's clients
	// Refused: a signer of our own
	github.com/aws/aws-sdk-go-v2 v1.48.0
	// Saves: the keys of AWS's clients
	github.com/aws/aws-sdk-go-v2/credentials v1.20.16
	// Saves: AWS's own client of Step Functions
	// Refused: requests of our own: would share the server's reading of the protocol
	github.com/aws/aws-sdk-go-v2/service/sfn v1.41.2
	// Saves: AWS's own client of Amazon SWF
	// Refused: requests of our own: would share the server's reading of the protocol
	github.com/aws/aws-sdk-go-v2/service/swf v1.33.20
	// Saves: turns off the prefix `sync-` of hosts in the client of Step Functions
	github.com/aws/smithy-go v1.28.9
)

require (
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.11 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.11 // indirect
)
