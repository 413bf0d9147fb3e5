// Package template reads templates of CloudFormation, SAM, CDK and the Serverless Framework as a deployment would: it
// calls their functions, and returns the state machines, functions, schedules and rules that they describe. It asks no
// service, so the values that AWS would give are plausible ones, and always the same. It reads files only by the
// function that the caller gives, and no template makes it run without bound.
package template
