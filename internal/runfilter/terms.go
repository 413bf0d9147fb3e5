package runfilter

import "slices"

// Fields returns the names of the fields of which a term may ask, such as "flow".
func Fields() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// Words returns the values of the fields with a fixed set of values, such as "SUCCESS".
func Words() []string { return slices.Concat(stateNames(), outcomes, undos, kinds, waitKinds()) }

// Terms returns a filter for each term of the filter. Their [Filter.And] is the filter.
func (f Filter) Terms() []Filter {
	all := make([]Filter, len(f.terms))
	for i := range f.terms {
		all[i] = Filter{f.terms[i : i+1 : i+1]}
	}
	return all
}

// Negated returns the filter with each term negated.
func (f Filter) Negated() Filter {
	terms := slices.Clone(f.terms)
	for i := range terms {
		terms[i].not = !terms[i].not
	}
	return Filter{terms}
}
