package flow

import (
	"maps"
	"reflect"
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// DefaultItems is how many items an [EachFlow] works on at once unless [EachFlow.WithParallelism] says otherwise.
const DefaultItems = 16

// An EachFlow is a node that runs a body once for each item of a list, see [Each].
type EachFlow struct {
	name     string
	items    string       // symbol of the list
	list     reflect.Type // of the list
	body     Node
	provides string // symbol of the results
	failures string // symbol of the failures; "" if they are not provided
	atOnce   int
	tolerate int
}

// Each returns a node that runs body once for each item of a list. The list is an input or the result of another atom;
// its length is known only at run time. The node provides the results, in the order of the items, as a list under its
// own name, see [EachFlow.As].
//
// The body is an atom or a flow. What it requires are the members of the item, or else symbols that the node then
// requires from the flow around it; what is optional to the body, is optional to the node. Each item stores what it is
// given, so keep the latter small. The symbol "item" is the item itself, for an item that is no struct. A single
// argument that is no struct, and has no atom.From, is the item. The result of an item is that of the atom, or an
// object of the symbols that the flow provides.
//
// The items run in a run of their own, whose id is that of the parent, a slash and the name of the node. An item whose
// body is an atom is a step of that run; one whose body is a flow is a run again. If the parent undoes the node, it
// undoes the items that have run, the last one first. If an item fails, the others are cancelled, all items are undone,
// and the node fails with the failure of the item, see [EachFlow.Tolerate].
//
// The node holds in memory the list of the items, and the items that run. A task may take results that are too large
// for one value as an atom.List.
func Each[T any](name string, items atom.Key[[]T], body Node) *EachFlow {
	return &EachFlow{
		name: name, items: items.Name(), list: items.Type(), body: body, provides: name, atOnce: DefaultItems,
	}
}

// WithParallelism sets how many items run at once. The default is [DefaultItems]. Items whose body is an atom are also
// limited by engine.WithParallelism, and those whose body is a flow by engine.WithSlots.
func (f *EachFlow) WithParallelism(n int) *EachFlow { f.atOnce = n; return f }

// Tolerate lets n items fail. They are left out of the results, and their effects are undone only with the run. The
// failure of the next one fails the node. The default is 0. [EachFlow.FailuresAs] provides their failures.
func (f *EachFlow) Tolerate(n int) *EachFlow { f.tolerate = n; return f }

// As sets the symbol under which the node provides the results. The default is the node's name.
func (f *EachFlow) As(symbol string) *EachFlow { f.provides = symbol; return f }

// Name returns the node's name.
func (f *EachFlow) Name() string { return f.name }

// String returns the name of the node.
func (f *EachFlow) String() string { return f.Name() }

func (f *EachFlow) isFlow() {}

// ItemSymbol is the symbol of the item itself, for the body of [Each].
const ItemSymbol = "item"

// itemsMember is the member of the input of the run of the items that has the list. It is the last one.
const itemsMember = "items"

// nested implements nesting.
func (f *EachFlow) nested(c *compiler) (*atom.Atom, *PlanRun) {
	lang := &each{name: f.name, atOnce: f.atOnce, tolerate: f.tolerate, listFailures: f.failures != ""}
	item := f.list.Elem()
	var needs []atom.Arg // what the body requires from around
	result := reflect.TypeFor[any]()
	secret := false
	secrets := map[string]bool{}
	version := ""
	switch body, isAtom := f.body.(*atom.Atom); {
	case f.atOnce < 1:
		c.problemf(c.plan.Flow, f.name, "", ErrInvalid, "node %q has a parallelism of %d; want at least 1", f.name, f.atOnce)
	case f.tolerate < 0:
		c.problemf(c.plan.Flow, f.name, "", ErrInvalid, "node %q tolerates %d failures; want 0 or more", f.name, f.tolerate)
	case isNil(f.body):
		c.problemf(c.plan.Flow, f.name, "", ErrInvalid, "node %q has no body", f.name)
	case isAtom && body.Kind() == atom.KindRetry:
		c.problemf(c.plan.Flow, f.name, "", ErrInvalid, "the body of node %q is the retry %q; want a task or a flow", f.name,
			body.Name())
	case isAtom && body.Signal() == "" && !body.IsPivot():
		needs = c.ofAtom(f, lang, body, item)
		if t := body.ResultType(); t != nil {
			result = t
		}
		secret = body.SecretResult()
		for _, s := range body.Secrets() {
			secrets[s] = true
		}
		version = body.Version()
	default:
		needs = c.ofFlow(f, lang, item)
		if lang.child != nil {
			version = lang.child.Flow + " " + lang.child.Hash
			for _, s := range lang.child.Secrets {
				secrets[s] = true
			}
		}
	}
	requires := slices.Concat(needs, []atom.Arg{{Name: itemsMember, Symbol: f.items, Type: f.list}})
	self := atom.New(f.name, selfBody{requires, f.parts(reflect.SliceOf(result))}, secretIf(secret)...)
	if len(c.problems) > 0 {
		return self, nil
	}
	return self, c.runOfItems(f, lang, version, slices.Sorted(maps.Keys(secrets)), secret)
}

// parts returns what the node provides.
func (f *EachFlow) parts(results reflect.Type) []atom.Provide {
	if f.failures == "" {
		return []atom.Provide{{Symbol: f.provides, Type: results}}
	}
	return []atom.Provide{
		{Symbol: f.provides, From: atom.ByKey, Key: resultsMember, Type: results},
		{Symbol: f.failures, From: atom.ByKey, Key: failuresMember, Type: reflect.TypeFor[[]ItemFailure]()},
	}
}

func secretIf(is bool) []atom.Option {
	if is {
		return []atom.Option{atom.Secret()}
	}
	return nil
}

// runOfItems returns the run that the items are steps of. Version tells bodies apart.
func (c *compiler) runOfItems(f *EachFlow, lang *each, version string, secrets []string, secret bool) *PlanRun {
	grows := &GrowingFlow{
		name: c.plan.Flow + "/" + f.name, self: atom.New(GrowingPath, grown{}, atom.Version(version)), lang: lang,
	}
	plan := c.inner(f.name, grows, nil, false)
	if plan == nil {
		return nil
	}
	plan.Secrets = secrets
	if secret {
		plan.SecretResults = []string{AllAtoms}
	}
	return &PlanRun{
		Plan: plan, Reverts: lang.reverts(), Stays: lang.stays(), Items: f.items, Task: lang.task.Atom, Body: lang.child,
	}
}

// AllAtoms stands for all atoms of a run in [Plan.SecretResults].
const AllAtoms = "*"

// ofAtom takes an atom as the body, and returns what it requires from around.
func (c *compiler) ofAtom(f *EachFlow, lang *each, body *atom.Atom, item reflect.Type) (needs []atom.Arg) {
	c.mistakes(body, c.plan.Flow)
	lang.task = itemBody{body}
	members, known := itemMembers(item)
	args := slices.Clone(body.Args())
	for _, arg := range body.RevertArgs() { // mostly the same ones
		if !slices.ContainsFunc(args, func(a atom.Arg) bool { return a.Symbol == arg.Symbol && a.Type == arg.Type }) {
			args = append(args, arg)
		}
	}
	for _, arg := range args {
		if _, injected := body.Injected(arg.Symbol); injected {
			continue
		}
		typ, member := members[arg.Symbol]
		switch {
		case arg.Symbol == "" || arg.Symbol == ItemSymbol && !member:
			lang.given.whole = lang.given.whole || arg.Symbol == ""
			lang.given.item = lang.given.item || arg.Symbol != ""
			c.itemFits(f, body.Name(), arg, item, item)
		case member:
			lang.given.members = true
			c.itemFits(f, body.Name(), arg, typ, item)
		case !known:
			lang.given.members = true
		default:
			needs = addNeed(needs, arg)
		}
	}
	lang.given.around = len(needs) > 0
	return needs
}

// itemFits reports an argument of a body that cannot have what the item gives.
func (c *compiler) itemFits(f *EachFlow, body string, arg atom.Arg, typ, item reflect.Type) {
	if !fits(typ, arg.Type) {
		c.problemf(c.plan.Flow, f.name, arg.Symbol, ErrType,
			"atom %q, the body of node %q, requires %v, but the items of %q are %v",
			body, f.name, describe(arg), f.items, item)
	}
}

func describe(arg atom.Arg) string {
	if arg.Symbol == "" {
		return arg.Type.String()
	}
	return quoted(arg.Symbol) + " as " + arg.Type.String()
}

// ofFlow takes a flow as the body, and returns what it requires from around.
func (c *compiler) ofFlow(f *EachFlow, lang *each, item reflect.Type) (needs []atom.Arg) {
	root := f.body
	if _, isFlow := root.(patterned); !isFlow {
		if _, grows := root.(*GrowingFlow); !grows {
			root = Linear(f.name+" item", root)
		}
	}
	members, known := itemMembers(item)
	inputs := maps.Clone(members)
	if _, member := members[ItemSymbol]; !member {
		inputs[ItemSymbol] = item
	}
	plan := c.inner(f.name, root, inputs, true)
	if plan == nil {
		return nil
	}
	lang.child = plan
	if plan.grows() {
		lang.given.whole = true
		return nil
	}
	lang.given.members = known && len(members) > 0 || !known
	for _, in := range plan.Inputs {
		_, member := members[in.Symbol]
		switch {
		case member, !known && in.Symbol != ItemSymbol:
		case in.Symbol == ItemSymbol:
			lang.given.item = true
		default:
			needs = addNeed(needs, atom.Arg{Name: in.Symbol, Symbol: in.Symbol, Optional: in.Optional, Type: in.Type})
		}
	}
	lang.given.around = len(needs) > 0
	return needs
}

func addNeed(needs []atom.Arg, arg atom.Arg) []atom.Arg {
	for i := range needs {
		if needs[i].Symbol == arg.Symbol {
			needs[i].Optional = needs[i].Optional && arg.Optional
			return needs
		}
	}
	return append(needs, atom.Arg{Name: arg.Symbol, Symbol: arg.Symbol, Optional: arg.Optional, Type: arg.Type})
}

// itemMembers returns the members of an item by their names, and whether they are known.
func itemMembers(item reflect.Type) (members map[string]reflect.Type, known bool) {
	for item.Kind() == reflect.Pointer {
		item = item.Elem()
	}
	list, isStruct := membersOf(item)
	members = map[string]reflect.Type{}
	for _, m := range list {
		members[m.Symbol] = m.Type
	}
	return members, isStruct || item.Kind() != reflect.Map && shape(item) != anyShape
}
