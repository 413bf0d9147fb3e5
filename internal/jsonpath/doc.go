// Package jsonpath reads and writes JSON values by the paths of the Amazon
// States Language.
//
//	path, err := jsonpath.Parse("$.orders[?(@.total > 100)].id")
//	...
//	ids, err := path.Get(document) // always a list: the path may name several
//
// A path is parsed once and may then be used by any number of goroutines.
// Documents are the trees of [jsontext.DecodeOrdered], with numbers as
// json.Number; Go's own number types are understood too. No function of this package changes a
// document: what Get returns is shared with it, and Set copies only the objects
// and arrays between the root and the place it writes.
//
// # The language
//
// A path begins with its root: $ is the state's input, $$ the context object,
// $name a variable. The caller chooses the document that fits [Path.Root]; the
// rest of the path does not care.
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
// A condition is made of comparisons joined by && and ||, negated by ! and
// grouped by parentheses. A path alone asks whether something is there, null
// included. The operators are == != === !== < <= > >=, =~ /regexp/ims, in, nin,
// subsetof, anyof, noneof, all, contains, size and empty; either side is a path
// from @ (the element in question) or from $ (the document Get was given), or a
// literal: 'text', "text", 1.5, true, null, ['a', 'b'], and, because real state
// machines rely on it, a bare word, which is text.
//
// Members come in the order they were written in wherever a path names several.
//
// # One value or several
//
// A path of nothing but single members and indices is definite: Get gives its
// value or a [*NotFoundError] in AWS's own words. Any other gives a list, empty
// when nothing matched, even where the whole way there is missing. A member that
// is null is there.
//
// # What follows AWS and what goes beyond
//
// AWS uses an early Jayway JsonPath. From it come, against RFC 9535: a filter
// tests an object itself rather than its members, a trailing ['a','b'] is one
// object, a regexp must match the whole text, and a number equals the text that
// spells it ("7" == 7; === wants one type). AWS's service has no functions, no
// word operators, no regexps, and never matches a filter against a scalar; here
// they work. Numbers are compared as decimals, exactly, whatever their size.
// Regexps are RE2: no look-around, no back references.
//
// # Limits
//
// A path is at most [MaxLength] bytes long and nests at most [MaxNesting]
// parentheses, filters and literals; a regexp compiles to at most [MaxPattern]
// instructions. One evaluation takes at most [MaxWork] steps, where a step is a
// value visited, compared, matched for some bytes of text, or given as a result
// (counted with all it holds where a path can give the same value twice);
// beyond it Get and Has return [ErrBudget]. So no pair of path and document
// takes more than a fraction of a second.
package jsonpath
