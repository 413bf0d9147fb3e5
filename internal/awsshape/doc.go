// Package awsshape knows what the answers of AWS's services look like, as far as
// Step Functions checks an answer that was made up for a test: the operations
// that state machines call most. An answer of any other is taken as it is.
package awsshape
