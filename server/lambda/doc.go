// Package lambda describes the Lambda functions of a project. Package template of the command finds them in templates.
// Functions are checked before they are used.
package lambda
