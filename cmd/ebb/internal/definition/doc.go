// Package definition reads definitions from the files that users give: JSON, YAML, and templates of CloudFormation and
// SAM, with the documents that they name. It compiles them, and those that are stored, to machines of any language.
// A [Beginning] has the options that a run was begun with, so that any process can resume the run.
package definition
