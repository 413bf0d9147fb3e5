package jq

import (
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// term reads a term with its suffixes.
func (g *guarder) term(t *gojq.Term) error {
	if t.Type == gojq.TermTypeIndex && looksAtAll(t.Index) {
		suffixes := append([]*gojq.Suffix{{Index: t.Index}}, t.SuffixList...)
		*t = gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: suffixes}
	}
	if err := g.plain(t); err != nil {
		return err
	}
	for i := 0; i < len(t.SuffixList); i++ {
		switch s := t.SuffixList[i]; {
		case s.Iter:
			guardBefore(t, i, costFlat)
			i = 0
		case s.Index != nil:
			if err := g.index(s.Index); err != nil {
				return err
			}
			if looksAtAll(s.Index) {
				guardBefore(t, i, costText)
				i = 0
			}
		}
	}
	return nil
}

// looksAtAll reports whether an index may apply to a string, in which finding it takes time in proportion to the
// string's length.
func looksAtAll(x *gojq.Index) bool { return x.Name == "" && x.Str == nil }

// guardBefore moves the part of a term before a suffix into a term of its own, followed by a guard. The suffix then is
// the first one.
func guardBefore(t *gojq.Term, suffix int, c cost) {
	before := *t
	before.SuffixList = t.SuffixList[:suffix:suffix]
	looked := guardInput(c)
	if suffix > 0 || before.Type != gojq.TermTypeIdentity {
		looked = piped(&gojq.Query{Term: &before}, looked)
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: looked, SuffixList: t.SuffixList[suffix:]}
}

// plain reads a term without its suffixes.
func (g *guarder) plain(t *gojq.Term) error {
	switch t.Type {
	case gojq.TermTypeIndex:
		return g.index(t.Index)
	case gojq.TermTypeFunc:
		return g.call(t)
	case gojq.TermTypeObject:
		return g.object(t.Object)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return nil
		}
		return g.value(t.Array.Query)
	case gojq.TermTypeNumber:
		if len(t.Number) > MaxDigits {
			return g.fault(t.Number, errDigits.Error(), "")
		}
	case gojq.TermTypeUnary:
		return g.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		return g.format(t)
	case gojq.TermTypeString:
		return g.text(t, "tostring")
	case gojq.TermTypeIf:
		return g.conditional(t.If)
	case gojq.TermTypeTry:
		if err := g.scoped(t.Try.Body); err != nil || t.Try.Catch == nil {
			return err
		}
		return g.scoped(t.Try.Catch)
	case gojq.TermTypeReduce:
		return g.reduce(t.Reduce)
	case gojq.TermTypeForeach:
		return g.foreach(t.Foreach)
	case gojq.TermTypeLabel:
		return g.within(func() error {
			g.declare("label "+t.Label.Ident, nil)
			return g.query(t.Label.Body)
		})
	case gojq.TermTypeBreak:
		if g.scope.find("label "+t.Break) == nil {
			return g.fault(t.Break, "there is no label "+t.Break, "")
		}
	case gojq.TermTypeQuery:
		return g.scoped(t.Query)
	default:
	}
	return nil
}

func (g *guarder) conditional(c *gojq.If) error {
	if err := g.value(c.Cond); err != nil {
		return err
	}
	if err := g.scoped(c.Then); err != nil {
		return err
	}
	for _, e := range c.Elif {
		if err := g.value(e.Cond); err != nil {
			return err
		}
		if err := g.scoped(e.Then); err != nil {
			return err
		}
	}
	if c.Else == nil {
		return nil
	}
	return g.scoped(c.Else)
}

func (g *guarder) reduce(r *gojq.Reduce) error {
	if err := g.growing("reduce"); err != nil {
		return err
	}
	return g.fold(r.Query, r.Patterns, r.Start, r.Update)
}

func (g *guarder) foreach(f *gojq.Foreach) error {
	if err := g.growing("foreach"); err != nil {
		return err
	}
	if f.Extract == nil {
		return g.fold(f.Query, f.Patterns, f.Start, f.Update)
	}
	return g.fold(f.Query, f.Patterns, f.Start, f.Update, f.Extract)
}

func (g *guarder) fold(over *gojq.Query, patterns []*gojq.Pattern, start *gojq.Query, each ...*gojq.Query) error {
	if err := g.scoped(over); err != nil {
		return err
	}
	if err := g.scoped(start); err != nil {
		return err
	}
	return g.within(func() error {
		if err := g.patterns(patterns); err != nil {
			return err
		}
		for _, q := range each {
			if err := g.scoped(q); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *guarder) object(o *gojq.Object) error {
	for _, member := range o.KeyVals {
		if strings.HasPrefix(member.Key, "$") {
			if err := g.variable(member.Key); err != nil {
				return err
			}
		}
		if err := g.keyString(member.KeyString); err != nil {
			return err
		}
		for _, q := range []*gojq.Query{member.KeyQuery, member.Val} {
			if q == nil {
				continue
			}
			if err := g.value(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyString reads a string that is a member's name. Interpolated values in it must be short.
func (g *guarder) keyString(s *gojq.String) error {
	if s == nil {
		return nil
	}
	for i, q := range s.Queries {
		if q.Term.Str != nil {
			continue
		}
		if err := g.value(q); err != nil {
			return err
		}
		text := piped(q, guardInput(costDeep), call("tostring"), guardInput(costKey))
		s.Queries[i] = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: text}}
	}
	return nil
}

// index reads .name, ."name", .[e] or .[e:e].
func (g *guarder) index(x *gojq.Index) error {
	if err := g.keyString(x.Str); err != nil {
		return err
	}
	for _, q := range []**gojq.Query{&x.Start, &x.End} {
		if *q == nil {
			continue
		}
		if n, ok := numeral(*q); ok {
			if i, _ := gojq.ToInt(n); i > MaxIndex {
				return g.fault((*q).Term.Number, errIndex.Error(), "")
			}
			continue
		}
		if err := g.value(*q); err != nil {
			return err
		}
		if !isText(*q) && !x.IsSlice {
			*q = piped(*q, guardInput(costIndex))
		}
	}
	return nil
}

// text reads a string. A string with interpolations becomes a sum of its parts.
func (g *guarder) text(t *gojq.Term, format string) error {
	if t.Str == nil || t.Str.Queries == nil {
		return nil
	}
	var sum *gojq.Query
	for _, part := range t.Str.Queries {
		if part.Term.Str == nil {
			if err := g.value(part); err != nil {
				return err
			}
			part = piped(part, guardInput(costDeep), call(format))
		}
		if sum == nil {
			sum = part
		} else {
			sum = guarded(gojq.OpAdd, sum, part)
		}
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: sum, SuffixList: t.SuffixList}
	return nil
}

// formats are the functions behind @text, @json and so on.
var formats = map[string]string{
	"@text": "tostring", "@json": "tojson", "@html": "_tohtml", "@uri": "_touri", "@urid": "_tourid", "@csv": "_tocsv",
	"@tsv": "_totsv", "@sh": "_tosh", "@base64": "_tobase64", "@base64d": "_tobase64d",
}

func (g *guarder) format(t *gojq.Term) error {
	format, ok := formats[t.Format]
	if !ok {
		return g.fault(t.Format, "there is no format "+t.Format, didYouMean(t.Format, slices.Collect(maps.Keys(formats))))
	}
	if t.Str != nil {
		if t.Str.Queries == nil {
			*t = gojq.Term{Type: gojq.TermTypeString, Str: t.Str, SuffixList: t.SuffixList}
			return nil
		}
		return g.text(t, format)
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: piped(guardInput(costDeep), call(format)), SuffixList: t.SuffixList}
	return nil
}
