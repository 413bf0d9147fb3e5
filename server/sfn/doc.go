// Package sfn serves the API of AWS Step Functions. State machines, their versions, aliases and tags, and activities
// are named records in the store, so any number of servers on one database serve the same resources. Every answer with
// status 200 is committed before it is sent.
//
//	api, err := sfn.New(sfn.Config{Store: store})
//	if err != nil {
//		return err
//	}
//	handler := aws.New(aws.Options{Region: api.Region()}, api.Service())
//
// To write the histories of machines into log groups, pass [Server.Observe] to the engine and run [Server.Log].
//
// # Definitions
//
// A definition that a client sends may name the resources that AWS accepts. It may name other resources, such as
// programs and URLs, only if [Config.Named] says so. CreateStateMachine refuses all others and reports their locations.
//
// # Departures from AWS
//
// Answers are consistent: an operation sees the effects of all earlier operations. The role of a machine is stored and
// returned, but grants nothing.
package sfn
