package jsonata

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// builtins contains the functions of the language, and those that the States Language adds. There is no $eval.
var builtins = &frame{table: map[string]any{}}

// HasFunction reports whether the language has a function with that name.
func HasFunction(name string) bool { return builtins.table[name] != nil }

// FunctionNames returns the names of the language's functions, in order.
func FunctionNames() []string { return slices.Sorted(maps.Keys(builtins.table)) }

func builtin(name string, parameters int, signature string, do func(r *run, args []any) (any, error)) {
	builtins.table[name] = &native{name: name, parameters: parameters, signature: mustSignature(signature), do: do}
}

//nolint:gochecknoinits // the table refers to functions that look into it
func init() {
	builtin("sum", 1, "<a<n>:n>", sum)
	builtin("count", 1, "<a:n>", count)
	builtin("max", 1, "<a<n>:n>", extreme(1))
	builtin("min", 1, "<a<n>:n>", extreme(-1))
	builtin("average", 1, "<a<n>:n>", average)
	builtin("number", 1, "<(nsb)-:n>", toNumber)
	builtin("floor", 1, "<n-:n>", numeral(math.Floor))
	builtin("ceil", 1, "<n-:n>", numeral(math.Ceil))
	builtin("abs", 1, "<n-:n>", numeral(math.Abs))
	builtin("round", 2, "<n-n?:n>", toRounded)
	builtin("sqrt", 1, "<n-:n>", squareRoot)
	builtin("power", 2, "<n-n:n>", power)
	builtin("formatNumber", 3, "<n-so?:s>", formatNumber)
	builtin("formatBase", 2, "<n-n?:s>", formatBase)
	builtin("formatInteger", 2, "<n-s:s>", formatInteger)
	builtin("parseInteger", 2, "<s-s:n>", parseInteger)

	builtin("string", 1, "<x-b?:s>", toString)
	builtin("substring", 3, "<s-nn?:s>", substring)
	builtin("substringBefore", 2, "<s-s:s>", substringBefore)
	builtin("substringAfter", 2, "<s-s:s>", substringAfter)
	builtin("lowercase", 1, "<s-:s>", textual(strings.ToLower))
	builtin("uppercase", 1, "<s-:s>", textual(upperCase))
	builtin("length", 1, "<s-:n>", length)
	builtin("trim", 1, "<s-:s>", textual(trim))
	builtin("pad", 3, "<s-ns?:s>", pad)
	builtin("match", 3, "<s-f<s:o>n?:a<o>>", match)
	builtin("contains", 2, "<s-(sf):b>", contains)
	builtin("replace", 4, "<s-(sf)(sf)n?:s>", replace)
	builtin("split", 3, "<s-(sf)n?:a<s>>", split)
	builtin("join", 2, "<a<s>s?:s>", join)
	builtin("base64encode", 1, "<s-:s>", encodeBase64)
	builtin("base64decode", 1, "<s-:s>", decodeBase64)
	builtin("encodeUrlComponent", 1, "<s-:s>", encodeURL("encodeUrlComponent", componentSafe))
	builtin("encodeUrl", 1, "<s-:s>", encodeURL("encodeUrl", componentSafe+reserved))
	builtin("decodeUrlComponent", 1, "<s-:s>", decodeURL("decodeUrlComponent", ""))
	builtin("decodeUrl", 1, "<s-:s>", decodeURL("decodeUrl", reserved))

	builtin("boolean", 1, "<x-:b>", toBoolean)
	builtin("not", 1, "<x-:b>", not)
	builtin("exists", 1, "<x:b>", exists)
	builtin("type", 1, "<x:s>", typeName)
	builtin("error", 1, "<s?:x>", raise)
	builtin("assert", 2, "<bs?:x>", assert)

	builtin("map", 2, "<af>", mapItems)
	builtin("filter", 2, "<af>", filterItems)
	builtin("single", 2, "<af?>", singleItem)
	builtin("reduce", 3, "<afj?:j>", reduce)
	builtin("zip", 0, "<a+>", zip)
	builtin("append", 2, "<xx:a>", appendItems)
	builtin("reverse", 1, "<a:a>", reverse)
	builtin("sort", 2, "<af?:a>", sortItems)
	builtin("shuffle", 1, "<a:a>", shuffle)
	builtin("distinct", 1, "<x:x>", distinct)

	builtin("keys", 1, "<x-:a<s>>", keys)
	builtin("lookup", 2, "<x-s:x>", lookupMember)
	builtin("spread", 1, "<x-:a<o>>", spread)
	builtin("merge", 1, "<a<o>:o>", merge)
	builtin("each", 2, "<o-f:a>", each)
	builtin("sift", 2, "<o-f?:o>", sift)
	builtin("clone", 1, "<(oa)-:o>", clone)

	builtin("now", 2, "<s?s?:s>", now)
	builtin("millis", 0, "<:n>", millis)
	builtin("toMillis", 2, "<s-s?:n>", toMillis)
	builtin("fromMillis", 3, "<n-s?s?:s>", fromMillis)

	builtin("random", 1, "<x?x?:x>", random)
	builtin("uuid", 0, "<x?:x>", uuid)
	builtin("hash", 2, "<x?x?x?:x>", hashOf)
	builtin("parse", 1, "<x?x?:x>", parseText)
	builtin("partition", 2, "<x?x?x?:x>", partition)
	builtin("range", 3, "<x?x?x?x?:x>", rangeOf)
}
