package jsonata

import "github.com/ebbflow/ebb/internal/ecmaregexp"

// A node is a part of an expression that can be evaluated.
type node interface {
	// evaluate returns what the node itself gives for an input; see
	// [run.evaluate] for what comes before and after.
	evaluate(r *run, input any, env *frame) (any, error)
	common() *base
}

// base is what any node may have.
type base struct {
	at         int
	keepArray  bool
	cons       bool   // an array that stays one within a path
	predicates []node // what is to be true of what the node gives
	group      *grouping

	// As a step of a path.
	tuple    bool    // the step's values are followed one by one, with what is bound to them
	focus    string  // @$focus
	index    string  // #$index
	ancestor *parent // the step is what % stands for
	stages   []stage // predicates and #$index behind the step

	seeking []*parent // % within, that is yet to find its step
}

func (c *base) common() *base { return c }

// A stage is a predicate, or the name that the position is bound to.
type stage struct {
	predicate node
	index     string
}

// A parent is what a % stands for: the input of some step before.
type parent struct {
	label string // under which the step binds it
	level int    // how many steps up it is yet
}

type (
	literalNode struct {
		base
		value any
	}
	variableNode struct {
		base
		name string
	}
	nameNode struct {
		base
		name string
	}
	wildcardNode   struct{ base }
	descendantNode struct{ base }
	parentNode     struct {
		base
		slot *parent
	}
	regexNode struct {
		base
		regex *ecmaregexp.Regexp
	}
	pathNode struct {
		base
		steps         []node
		keepSingleton bool
	}
	// sortNode is a step that orders what the steps before gave.
	sortNode struct {
		base
		terms []orderTerm
	}
	binaryNode struct {
		base
		operator    string
		left, right node
	}
	negateNode struct {
		base
		operand node
	}
	arrayNode struct {
		base
		items []node
	}
	objectNode struct {
		base
		members grouping
	}
	bindNode struct {
		base
		name  string
		value node
	}
	conditionNode struct {
		base
		condition, then, otherwise node // otherwise: nil for none
	}
	blockNode struct {
		base
		parts []node
	}
	applyNode struct {
		base
		left, right node
	}
	callNode struct {
		base
		procedure node
		arguments []node
	}
	partialNode struct {
		base
		procedure node
		arguments []node // nil where ? stands
	}
	lambdaNode struct {
		base
		parameters []string
		body       node
		signature  *signature
	}
	// thunkNode is a tail call. The caller of the function makes the call, so that loops written as recursion need no
	// stack.
	thunkNode struct {
		base
		call *callNode
	}
	transformNode struct {
		base
		pattern, update, remove node // remove: nil for none
	}
)

type orderTerm struct {
	by         node
	descending bool
}

// A grouping is the members of an object: pairs of name and value.
type grouping struct {
	pairs [][2]node
	at    int
}
