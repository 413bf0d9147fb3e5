package flow

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"

	"github.com/ebbflow/ebb/atom"
)

// wire checks that every argument of every atom can get its value, and as the
// type it wants.
func (c *compiler) wire() {
	p := c.plan
	wanted := map[string]bool{}
	for i := range p.Atoms {
		a := &p.Atoms[i]
		c.wireArgs(int32(i), a, a.Args(), wanted)
		c.wireArgs(int32(i), a, ownRevertArgs(a), wanted)
		for _, d := range a.Deciders {
			if d.Decider.Symbol != "" {
				c.wireArgs(int32(i), a, []atom.Arg{{Name: deciding, Symbol: d.Decider.Symbol, Type: d.Decider.Type}}, wanted)
			}
		}
		c.holds(a)
	}
	c.unused(wanted)
	c.hidden(c.used)
	for _, s := range slices.Sorted(maps.Keys(c.inputs)) {
		if t := c.inputs[s]; t != nil {
			if members, isStruct := membersOf(t); isStruct && t.NumField() > 0 && len(members) == 0 {
				c.problemf(p.Flow, "", s, ErrInvalid, "the input %q is a %v, which has no exported fields; export them", s, t)
			}
		}
		if list := p.providers[s]; len(list) > 0 {
			p.Warnings = append(p.Warnings,
				fmt.Sprintf("the input %q hides what atom %q provides under that name; rename one of them",
					s, p.Atoms[list[0].atom].Name()))
		}
	}
}

// deciding is the name of the argument that a value is for a decider.
const deciding = "\x00decider"

// user names who requires a symbol.
func user(a *PlanAtom, arg *atom.Arg) string {
	if arg.Name == deciding {
		return fmt.Sprintf("the decider of a link to atom %q", a.Name())
	}
	return fmt.Sprintf("atom %q", a.Name())
}

// holds reports results of which nothing can be kept, and those that no other atom can use.
func (c *compiler) holds(a *PlanAtom) {
	t := a.ResultType()
	if t == nil || a.Language != nil {
		return
	}
	members, isStruct := membersOf(t)
	switch {
	case isStruct && t.NumField() > 0 && len(members) == 0:
		c.problemf(c.plan.FlowOf(a.Node), a.Name(), "", ErrInvalid,
			"atom %q returns a %v, which has no exported fields, so nothing of it is stored; export them, or return struct{}",
			a.Name(), t)
	case !isStruct && len(a.Provides()) == 0 && !a.Reverts():
		c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(
			"atom %q returns a %v that no other atom can use; name it with atom.As, or return struct{}", a.Name(), t))
	}
}

// ownRevertArgs returns the arguments of a's revert that its execution does not
// have.
func ownRevertArgs(a *PlanAtom) []atom.Arg {
	var own []atom.Arg
	for _, arg := range a.RevertArgs() {
		if !slices.ContainsFunc(a.Args(), func(other atom.Arg) bool {
			return other.Symbol == arg.Symbol && other.Type == arg.Type && (arg.Optional || !other.Optional)
		}) {
			own = append(own, arg)
		}
	}
	return own
}

func (c *compiler) wireArgs(i int32, a *PlanAtom, args []atom.Arg, wanted map[string]bool) {
	p := c.plan
	for at := range args {
		arg := &args[at]
		if arg.Symbol == "" {
			if a.Language == nil && arg.Name == "" {
				c.problemf(p.FlowOf(a.Node), a.Name(), "", ErrMissing,
					"atom %q takes a %v, which is no struct; say with atom.From which symbol it is", a.Name(), arg.Type)
			}
			continue
		}
		if _, ok := a.Injected(arg.Symbol); ok {
			continue
		}
		if typ, ok := c.inputs[arg.Symbol]; ok {
			if !fits(typ, arg.Type) {
				c.problemf(p.FlowOf(a.Node), a.Name(), arg.Symbol, ErrType, "%s requires %q as %v, but the input has it as %v",
					user(a, arg), arg.Symbol, arg.Type, typ)
			}
			wanted[arg.Symbol] = true
			p.want(Input{arg.Symbol, arg.Type, a.Name(), arg.Optional})
			continue
		}
		found := false
		for from, part := range p.providersOf(i, arg.Symbol) {
			found = true
			c.used[usedValue{from, arg.Symbol}] = true
			if !fits(part.Type, arg.Type) {
				c.problemf(p.FlowOf(a.Node), a.Name(), arg.Symbol, ErrType,
					"%s requires %q as %v, but atom %q provides it as %v",
					user(a, arg), arg.Symbol, arg.Type, p.Atoms[from].Name(), part.Type)
			}
			break
		}
		switch {
		case found:
		case !arg.Optional:
			c.missing(a, arg)
		case c.lenient && len(c.around) > 0 && len(p.providers[arg.Symbol]) == 0: // the flow around may have it
			p.want(Input{arg.Symbol, arg.Type, a.Name(), true})
		}
	}
}

// want adds an input, or says that one of the plan is required after all.
func (p *Plan) want(in Input) {
	at := slices.IndexFunc(p.Inputs, func(other Input) bool { return other.Symbol == in.Symbol })
	switch {
	case at < 0:
		p.Inputs = append(p.Inputs, in)
	case p.Inputs[at].Optional && !in.Optional:
		p.Inputs[at] = in
	}
}

func (c *compiler) missing(a *PlanAtom, arg *atom.Arg) {
	p, symbol := c.plan, arg.Symbol
	if list := p.providers[symbol]; len(list) > 0 {
		c.problemf(p.FlowOf(a.Node), a.Name(), symbol, ErrMissing,
			"%s requires %q, which atom %q provides, but not before it; link or reorder them",
			user(a, arg), symbol, p.Atoms[list[0].atom].Name())
		return
	}
	candidates := slices.Collect(maps.Keys(c.inputs))
	for s := range p.Symbols {
		candidates = append(candidates, s)
	}
	who, what := user(a, arg), "nothing before it provides"
	if members := itemOf(a, arg); len(members) > 0 {
		who, what = fmt.Sprintf("the body of node %q", a.Name()), "neither the item nor anything before the node provides"
		candidates = append(candidates, members...)
	}
	slices.Sort(candidates)
	c.problemf(p.FlowOf(a.Node), a.Name(), symbol, ErrMissing, "%s requires %q, which %s%s", who, symbol, what,
		didYouMean(symbol, candidates))
}

// itemOf returns the members of the items of a node that runs a body for each, if arg is what that body requires.
func itemOf(a *PlanAtom, arg *atom.Arg) (members []string) {
	if a.Run == nil || a.Run.Items == "" || arg.Name == itemsMember {
		return nil
	}
	for _, list := range a.Args() {
		if list.Name == itemsMember {
			of, _ := itemMembers(list.Type.Elem())
			members = slices.AppendSeq([]string{ItemSymbol}, maps.Keys(of))
		}
	}
	return members
}

func (p *Plan) providersOf(i int32, symbol string) func(yield func(int32, atom.Provide) bool) {
	return func(yield func(int32, atom.Provide) bool) { p.Providers(i, symbol, yield) }
}

// Providers yields the atoms whose value of symbol the given atom may see, nearest first. With each it yields the
// part of the atom's result that has the value. All atoms of a flow see its retry. A child sees the atoms before it.
// Children of an unordered flow do not see each other.
func (p *Plan) Providers(of int32, symbol string, yield func(provider int32, part atom.Provide) bool) {
	list := p.providers[symbol]
	at := p.Atoms[of].Node
	i := len(list)
	if !p.inGraph(at) {
		i = sort.Search(len(list), func(k int) bool { return p.Atoms[list[k].atom].Node >= at })
	}
	for i--; i >= 0; i-- {
		from := p.Atoms[list[i].atom].Node
		lca, ok := p.precedes(from, at)
		if ok {
			if !yield(list[i].atom, p.Atoms[list[i].atom].Provides()[list[i].part]) {
				return
			}
			continue
		}
		if f := &p.flows[lca]; from < at && f.arranged == unordered {
			// No other child of f is visible either: continue in front of them.
			i = sort.Search(i, func(k int) bool { return p.Atoms[list[k].atom].Node >= f.firsts[0] })
		}
	}
}

// inGraph reports whether a flow around the node is a graph: only then may what
// comes later in the walk run earlier.
func (p *Plan) inGraph(n int32) bool {
	for f := p.Nodes[n].Flow; f >= 0; f = p.flows[f].parent {
		if p.flows[f].arranged == graph {
			return true
		}
	}
	return false
}

// precedes reports whether node a surely ends before node b begins, and the
// innermost flow that holds both.
func (p *Plan) precedes(a, b int32) (lca int32, ok bool) {
	fa, fb := p.Nodes[a].Flow, p.Nodes[b].Flow
	ba, bb := p.branch(a, fa), p.branch(b, fb)
	for fa != fb { // flows are numbered in the order of the walk: the larger is the deeper, or the later
		if fa > fb {
			ba, fa = p.flows[fa].branch, p.flows[fa].parent
		} else {
			bb, fb = p.flows[fb].branch, p.flows[fb].parent
		}
	}
	f := &p.flows[fa]
	switch {
	case a == b || ba == bb:
		return fa, false
	case ba == retryBranch:
		return fa, true
	case bb == retryBranch:
		return fa, false
	}
	switch f.arranged {
	case linear:
		return fa, ba < bb
	case graph:
		return fa, f.reaches(ba, bb)
	default:
		return fa, false
	}
}

// retryBranch stands for a flow's retry among its children.
const retryBranch = -1

// branch returns which child of its own flow an atom's node is.
func (p *Plan) branch(n, f int32) int32 {
	fl := &p.flows[f]
	if fl.retry >= 0 && p.Atoms[fl.retry].Node == n {
		return retryBranch
	}
	return int32(sort.Search(len(fl.firsts), func(k int) bool { return fl.firsts[k] > n })) - 1
}

// reaches reports whether child b of a graph depends on child a, directly or
// not.
func (f *planFlow) reaches(a, b int32) bool {
	if slices.Contains(f.after[b], a) {
		return true
	}
	seen := map[int32]bool{}
	for work := slices.Clone(f.after[b]); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if n == a {
			return true
		}
		if !seen[n] {
			seen[n] = true
			work = append(work, f.after[n]...)
		}
	}
	return false
}

// fits reports whether what is encoded from one type can be decoded into
// another. Types that are not known fit.
func fits(from, into reflect.Type) bool {
	if from == nil || into == nil {
		return true
	}
	for from.Kind() == reflect.Pointer {
		from = from.Elem()
	}
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	a, b := shape(from), shape(into)
	return from == into || a == anyShape || b == anyShape || a == b && a != noShape
}

// encodes reports whether values of the type, or pointers to them, have the
// methods of an encoding of their own.
func encodes[I any](t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[I]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

type encodedShape uint8

const (
	anyShape encodedShape = iota // not known, or anything
	boolShape
	numberShape
	stringShape
	listShape
	objectShape
	noShape // cannot be encoded
)

func shape(t reflect.Type) encodedShape {
	switch k := t.Kind(); {
	case k == reflect.Interface:
		return anyShape
	case t == reflect.TypeFor[atom.Value]():
		return anyShape
	case encodes[json.Marshaler](t), encodes[json.Unmarshaler](t):
		return anyShape
	case encodes[encoding.TextMarshaler](t), encodes[encoding.TextUnmarshaler](t):
		return stringShape
	case k == reflect.Bool:
		return boolShape
	case k >= reflect.Int && k <= reflect.Float64:
		return numberShape
	case k == reflect.String:
		return stringShape
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return stringShape
	case k == reflect.Slice || k == reflect.Array:
		return listShape
	case k == reflect.Map || k == reflect.Struct:
		return objectShape
	default:
		return noShape
	}
}
