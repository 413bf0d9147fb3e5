// Package interop tests Lambda functions in `ebb emulate` with AWS's own libraries: functions in Go that are built with
// aws-lambda-go, and clients of the SDK for Go. The functions are those of a project of SAM.
package interop
