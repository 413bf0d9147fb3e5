package jq

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/ebbflow/ebb/internal/spelling"
)

// A builtin is a function that programs may call without defining it.
type builtin struct {
	in      cost       // of its input
	args    []argument // of its arguments; missing ones are filters
	grows   bool       // it can make a path longer than its input is deep
	own     string     // its definition here, if gojq's has no bound
	refused string     // the reason why it is refused
	inner   bool       // only definitions of this package may call it
}

// An argument describes how a function uses one of its arguments.
type argument struct {
	path bool // it stands for paths
	cost cost // of its outputs, if the function works on their values
}

var (
	filter = argument{}
	paths  = argument{path: true}
)

func outputs(c cost) argument { return argument{cost: c} }

// builtins are the functions by name and number of arguments.
var builtins = sync.OnceValue(func() map[string]*builtin {
	all := map[string]*builtin{}
	add := func(b builtin, names string) {
		for name := range strings.FieldsSeq(names) {
			b := b
			all[name] = &b
		}
	}
	// Functions whose cost does not depend on their input.
	add(builtin{},
		`empty/0 not/0 select/1 type/0 has/1 in/1 toboolean/0 abs/0 first/0 last/0 nth/1 arrays/0 objects/0 iterables/0
		booleans/0 numbers/0 finites/0 normals/0 strings/0 nulls/0 values/0 scalars/0 range/1 range/2 range/3 first/1
		last/1 isempty/1
		infinite/0 nan/0 isinfinite/0 isnan/0 isnormal/0 isfinite/0 recurse/0 truncate_stream/1 JOIN/2 JOIN/3 JOIN/4
		sin/0 cos/0 tan/0 asin/0 acos/0 atan/0 sinh/0 cosh/0 tanh/0 asinh/0 acosh/0 atanh/0 floor/0 round/0 nearbyint/0
		rint/0 ceil/0
		trunc/0 significand/0 fabs/0 sqrt/0 cbrt/0 exp/0 exp10/0 exp2/0 expm1/0 frexp/0 modf/0 log/0 log10/0 log1p/0 log2/0
		logb/0
		gamma/0 tgamma/0 lgamma/0 erf/0 erfc/0 j0/0 j1/0 y0/0 y1/0 atan2/2 copysign/2 drem/2 fdim/2 fmax/2 fmin/2 fmod/2
		hypot/2
		nextafter/2 nexttoward/2 remainder/2 ldexp/2 scalb/2 scalbln/2 pow/2 fma/3 gmtime/0`)
	add(builtin{args: []argument{outputs(costOrder), filter}}, `jn/2 yn/2`)
	// Functions that return any number of outputs, or call themselves.
	add(builtin{grows: true},
		`while/2 until/2 repeat/1 limit/2 skip/2 nth/2 recurse/1 recurse/2 combinations/0 combinations/1 walk/1`)
	// Functions that visit each element, member or character of their input.
	add(builtin{in: costFlat},
		`length/0 utf8bytelength/0 keys/0 reverse/0 ltrim/0 rtrim/0 trim/0 implode/0 ascii_downcase/0
		ascii_upcase/0 map/1 map_values/1 to_entries/0 all/0 any/0 all/1 any/1 mktime/0`)
	add(builtin{in: costFlat}, `all/2 any/2`)
	add(builtin{in: costFlat, args: []argument{outputs(costFlat)}},
		`startswith/1 endswith/1 ltrimstr/1 rtrimstr/1 trimstr/1 split/1`)
	add(builtin{in: costExplode}, `explode/0`)
	add(builtin{in: costTranspose}, `transpose/0`)
	add(builtin{in: costDigits}, `tonumber/0 fromjson/0`)
	add(builtin{in: costTimeText}, `fromdateiso8601/0 fromdate/0`)
	add(builtin{in: costFlat}, `todateiso8601/0 todate/0`)
	add(builtin{in: costTimeText, args: []argument{outputs(costPattern)}}, `strptime/1`)
	add(builtin{in: costFlat, args: []argument{outputs(costPattern)}}, `strftime/1`)
	// Functions that visit their whole input, at any depth.
	add(builtin{in: costDeep}, `add/0 tostring/0 tojson/0 min/0 max/0 sort/0 unique/0 flatten/0 flatten/1 error/0`)
	add(builtin{in: costDeep, args: []argument{outputs(costKey)}}, `format/1`)
	add(builtin{args: []argument{outputs(costDeep)}}, `error/1`)
	add(builtin{in: costDeep, args: []argument{outputs(costDeep)}}, `bsearch/1`)
	add(builtin{in: costDeep, args: []argument{outputs(costJoin)}}, `join/1`)
	add(builtin{in: costDeep, args: []argument{outputs(costProduct)}}, `contains/1 inside/1 indices/1 index/1 rindex/1`)
	// Functions of paths.
	add(builtin{in: costPaths}, `paths/0 tostream/0`)
	add(builtin{in: costPaths, args: []argument{paths}}, `path/1 paths/1 del/1 pick/1`)
	add(builtin{args: []argument{outputs(costPath)}}, `getpath/1`)
	add(builtin{in: costDeep, args: []argument{outputs(costPath), filter}}, `setpath/2`)
	add(builtin{in: costDeep, args: []argument{outputs(costDeep)}}, `delpaths/1`)
	// Functions that this package defines.
	add(builtin{inner: true, in: costDeep, args: []argument{outputs(costDeep)}},
		`_min_by/1 _max_by/1 _sort_by/1 _group_by/1 _unique_by/1`)
	add(builtin{inner: true}, `_captures/0 `+matchGuard+`/4`)
	for name, text := range definitions {
		all[name] = &builtin{own: text}
	}
	for _, name := range []string{"add/1", "INDEX/1", "INDEX/2", "IN/1", "IN/2", "fromstream/1"} {
		all[name].grows = true
	}
	// Functions that a sandbox does not have.
	const (
		sameAlways   = "the time is not to be seen here: an expression gives the same whenever it is evaluated"
		terminalOnly = "it is of use at a terminal only"
	)
	for names, why := range map[string]string{
		"now/0 localtime/0 strflocaltime/1":                               sameAlways,
		"env/0 $ENV/0 get_search_list/0 modulemeta/0":                     "nothing outside is to be seen here",
		"input/0 inputs/0":                                                "there is one input, which is .",
		"debug/0 debug/1 stderr/0 input_filename/0":                       terminalOnly,
		"input_line_number/0 builtins/0 halt/0 halt_error/0 halt_error/1": terminalOnly,
	} {
		add(builtin{refused: why}, names)
	}
	return all
})

// call reads the call of a function, or the use of a variable.
func (g *guarder) call(t *gojq.Term) error {
	f := t.Func
	if strings.HasPrefix(f.Name, "$") {
		return g.variable(f.Name)
	}
	g.read[f.Name]++
	name := f.Name + "/" + strconv.Itoa(len(f.Args))
	if s := g.scope.find(name); s != nil {
		if s.fn.open || s.fn.grows {
			if err := g.growing(f.Name); err != nil {
				return err
			}
		}
		for _, arg := range f.Args {
			if err := g.scoped(arg); err != nil {
				return err
			}
		}
		return nil
	}
	b := builtins()[name]
	switch {
	case b == nil || b.inner && !g.inner:
		return g.fault(f.Name, "there is no function "+name, g.similar(f.Name, len(f.Args)))
	case b.refused != "":
		return g.fault(f.Name, f.Name+" cannot be used: "+b.refused, "")
	}
	return g.builtin(t, name, b)
}

func (g *guarder) builtin(t *gojq.Term, name string, b *builtin) error {
	f := t.Func
	if b.grows && (name != "recurse/1" || !descends(f.Args[0])) {
		if err := g.growing(f.Name); err != nil {
			return err
		}
	}
	for i, arg := range f.Args {
		var as argument
		if i < len(b.args) {
			as = b.args[i]
		}
		if as.path {
			if err := g.at(asPath, arg); err != nil {
				return err
			}
			continue
		}
		if err := g.scoped(arg); err != nil {
			return err
		}
		if as.cost != 0 {
			f.Args[i] = guardArgument(as.cost, arg)
		}
	}
	if b.own != "" {
		return g.include(name, b)
	}
	if b.in != 0 {
		called := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: f}}
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: piped(guardInput(b.in), called), SuffixList: t.SuffixList}
	}
	return nil
}

// descends reports whether all outputs of a query are parts of its input. Repeating such a query ends.
func descends(q *gojq.Query) bool {
	if q.Term == nil || len(q.FuncDefs) > 0 {
		return false
	}
	for _, s := range q.Term.SuffixList {
		if s.Iter {
			return q.Term.Type == gojq.TermTypeIdentity || q.Term.Type == gojq.TermTypeIndex
		}
	}
	return false
}

// include puts a definition of this package before the program, after the definitions that it needs itself.
func (g *guarder) include(name string, b *builtin) error {
	if g.own[name] != nil {
		return nil
	}
	query, err := gojq.Parse(b.own + " .")
	if err != nil {
		panic("jq: " + name + ": " + err.Error()) // a defect of this package
	}
	def := query.FuncDefs[0]
	g.own[name] = def
	inside := &guarder{source: b.own, own: g.own, order: g.order, read: map[string]int{}, inner: true}
	if err := inside.define(def); err != nil {
		panic("jq: " + name + ": " + err.Error())
	}
	g.order = inside.order
	g.order = append(g.order, name)
	return nil
}

// variable reads the use of a variable.
func (g *guarder) variable(name string) error {
	g.read[name]++
	if g.scope.find(name) != nil || g.inner && name == meterVariable {
		return nil
	}
	if b := builtins()[name+"/0"]; b != nil {
		return g.fault(name, name+" cannot be used: "+b.refused, "")
	}
	var names []string
	for s := g.scope; s != nil; s = s.outer {
		if strings.HasPrefix(s.name, "$") {
			names = append(names, s.name)
		}
	}
	slices.Sort(names)
	fix := didYouMean(name, names)
	if fix == "" {
		fix = "there is no variable here"
		if len(names) > 0 {
			fix = "there are " + strings.Join(slices.Compact(names), ", ")
		}
	}
	return g.fault(name, "the variable "+name+" is not defined", fix)
}

// similar returns a fix that suggests a function: one of that name with another number of arguments, or of a similar
// name.
func (g *guarder) similar(name string, args int) string {
	var names []string
	for s := g.scope; s != nil; s = s.outer {
		if s.fn != nil {
			names = append(names, s.name)
		}
	}
	for full, b := range builtins() {
		if !b.inner && b.refused == "" {
			names = append(names, full)
		}
	}
	slices.Sort(names)
	for _, full := range names {
		if strings.HasPrefix(full, name+"/") {
			return "there is " + full
		}
	}
	return didYouMean(name+"/"+strconv.Itoa(args), names)
}

func didYouMean(name string, candidates []string) string {
	if near := spelling.Nearest(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
