// Package swf serves the API of Amazon Simple Workflow Service (SWF). Domains and types are named records in the store.
// An execution is a run of the flow of package flow/swf. Any number of servers on one database serve the same domains.
// Every answer with status 200 is committed before it is sent.
//
//	api, err := swf.New(swf.Config{Store: store, Runs: conductor})
//	if err != nil {
//		return err
//	}
//	handler := aws.New(aws.Options{Region: api.Region()}, api.Service())
//	go api.Run(ctx) // deletes executions whose retention period is over
//
// # Departures from AWS
//
// Answers are consistent: an operation sees the effects of all earlier operations. Tasks are delivered in the exact
// order of their priorities and ages. Ebb throttles requests only if [QuotaRequests] is set. A lambda role is stored
// and returned, but grants nothing.
package swf
