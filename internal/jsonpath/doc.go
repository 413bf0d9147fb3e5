// Package jsonpath reads and writes JSON values by the paths of the Amazon States Language.
//
//	path, err := jsonpath.Parse("$.orders[?(@.total > 100)].id")
//	...
//	ids, err := path.Get(document) // always a list: the path may name several
//
// A path is parsed once. Any number of goroutines may then use it. Documents are the trees of
// [jsontext.DecodeOrdered], with numbers as json.Number, or with Go's own number types. No function of this package
// changes a document. The result of Get shares values with the document. Set copies only the objects and arrays between
// the root and the place that it writes.
//
// # The language
//
// It is that of Jayway JsonPath 2.0.0, which AWS runs; docs/reference/asl.md has the grammar. $ is the state's input,
// $$ the context object, $name a variable. The caller chooses the document that fits [Path.Root]. Newer versions of
// JSONPath give some texts another meaning: [Path.Caution] says so. Where Jayway fails below a step that names
// several values, the other values are found here.
//
// # One value or several
//
// A path of only names and single elements is definite: Get returns its value, or a [*NotFoundError] in AWS's words.
// Any other path returns a list, which is empty if nothing matches, even if no part of the path exists.
//
// # Limits
//
// A path has at most [MaxLength] bytes. A regular expression is RE2 and compiles to at most [MaxPattern] instructions.
// One evaluation takes at most [MaxWork] steps. Then Get and Has return [ErrBudget]. A step is a value that is visited,
// compared or returned, or some bytes of text that are matched. If a path can return the same value twice, everything
// in the value counts. So no pair of path and document takes more than a fraction of a second.
package jsonpath
