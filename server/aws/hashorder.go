package aws

import (
	"cmp"
	"slices"
	"unicode/utf16"
)

// AWS's errors list violations and the values of enumerations in an order that looks random, but is always the same: it
// is that of hash tables of Java. The functions of this file reproduce each list of values, and all but one of the
// lists of members, that were found recorded for Step Functions, DynamoDB, Simple Workflow, Cognito, SNS and others.

// javaHash returns String.hashCode of a text.
func javaHash(text string) uint32 {
	const factor = 31
	var hash uint32
	for _, unit := range utf16.Encode([]rune(text)) {
		hash = factor*hash + uint32(unit)
	}
	return hash
}

// buckets returns the size of a table for n entries that began with a size. A table doubles when it is 3/4 full.
func buckets(begin, n int) uint32 {
	for 4*n > 3*begin {
		begin *= 2
	}
	return uint32(begin)
}

// orderValues orders the values of an enumeration, which have the order of the model. In a bucket, the last one is
// first.
func orderValues(values []string) []string {
	const begin = 32
	size := buckets(begin, len(values))
	ordered := slices.Clone(values)
	slices.Reverse(ordered)
	slices.SortStableFunc(ordered, func(a, b string) int {
		return cmp.Compare(javaHash(a)%size, javaHash(b)%size)
	})
	return ordered
}

// orderMembers orders the members of a structure. In a bucket, they are in reverse order of their names.
func orderMembers(members []Member) []Member {
	const begin, spread = 16, 16
	size := buckets(begin, len(members))
	bucket := func(m Member) uint32 {
		hash := javaHash(m.name)
		return (hash ^ hash>>spread) % size
	}
	ordered := slices.Clone(members)
	slices.SortFunc(ordered, func(a, b Member) int {
		return cmp.Or(cmp.Compare(bucket(a), bucket(b)), cmp.Compare(b.name, a.name))
	})
	return ordered
}
