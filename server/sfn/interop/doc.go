// Package interop tests the Step Functions server of `ebb serve` with AWS's own clients: the SDK for Go, the SDK for
// JavaScript and the AWS CLI.
package interop
