// Package definition reads definitions from the files that users give: JSON, YAML, and templates of CloudFormation and
// SAM, with the documents that they name. It compiles them, and those that are stored, to machines of any language.
// What a run was begun with is here, too, so that any process can go on with it.
package definition
