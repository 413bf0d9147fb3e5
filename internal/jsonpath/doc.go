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
// A path begins with its root: $ is the state's input, $$ the context object, $name a variable. The caller chooses the
// document that fits [Path.Root].
//
//	.name ['a name'] ["a name"]     member; in .name, \c stands for c itself
//	[0] [-1]                        element, from the end when negative
//	['a','b']                       at the end: an object of those members
//	[0,2] ['a','b'].x               each of several
//	[a:b] [a:] [:b] [-n:] [a:b:s]   slice, with steps as in RFC 9535
//	.* [*]                          every member or element
//	..name ..* ..[0] ..[?( )]       the same, at any depth
//	[?(condition)]                  elements for which the condition holds
//	.length() .min() .max() .avg() .sum() .keys()   at the end
//
// A condition consists of comparisons, which && and || join, ! negates and parentheses group. A path alone tests
// whether a value exists, null included. The operators are == != === !== < <= > >=, =~ /regexp/ims, in, nin, subsetof,
// anyof, noneof, all, contains, size and empty. Each side is a path or a literal. A path begins with @, the element in
// question, or with $, the document that Get received. Literals are 'text', "text", 1.5, true, null and ['a', 'b']. A
// bare word is a text, because real state machines rely on it.
//
// If a path names several members, they come in the order in which they were written.
//
// # One value or several
//
// A path of only single members and indices is definite: Get returns its value, or a [*NotFoundError] in AWS's words.
// Any other path returns a list, which is empty if nothing matches, even if no part of the path exists. A member that
// is null exists.
//
// # What follows AWS and what goes beyond
//
// AWS uses an early Jayway JsonPath. Therefore, these rules differ from RFC 9535:
//
//   - A filter tests an object itself, not its members.
//   - A trailing ['a','b'] is one object.
//   - A regular expression must match the whole text.
//   - A number equals the text that spells it ("7" == 7), but === compares types, too.
//
// AWS's service has no functions, no word operators and no regular expressions, and its filters never match a scalar.
// Here they work. Numbers are compared exactly, as decimals of any size. Regular expressions are RE2, so they have no
// look-around and no back references.
//
// # Limits
//
// A path has at most [MaxLength] bytes, and nests at most [MaxNesting] parentheses, filters and literals. A regular
// expression compiles to at most [MaxPattern] instructions. One evaluation takes at most [MaxWork] steps. Then Get and
// Has return [ErrBudget]. A step is a value that is visited, compared or returned, or some bytes of text that are
// matched. If a path can return the same value twice, everything in the value counts. So no pair of path and document
// takes more than a fraction of a second.
package jsonpath
