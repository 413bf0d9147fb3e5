// Package definition reads definitions from users' files: JSON, YAML, and templates of CloudFormation and SAM, with
// the documents that they name. It compiles them, and stored definitions, to machines of any language. A
// [Beginning] contains the options with which a run was started, so that any process can resume the run.
package definition
