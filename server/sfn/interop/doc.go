// Package interop tests the servers of AWS Step Functions and Amazon SWF in `ebb serve` with AWS's own clients: the SDK
// for Go, the SDK for JavaScript and the AWS CLI.
package interop
