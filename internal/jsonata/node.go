package jsonata

import "github.com/ebbflow/ebb/internal/ecmaregexp"

// A node is a part of an expression that can be evaluated.
type node interface {
	// evaluate returns the node's own result for an input. See [run.evaluate] for predicates and grouping.
	evaluate(r *run, input any, env *frame) (any, error)
	common() *base
}

// base holds what any node may have.
type base struct {
	at         int
	keepArray  bool
	cons       bool   // an array that stays an array within a path
	predicates []node // predicates on the result
	group      *grouping

	// The fields of a step of a path.
	tuple    bool    // the values are processed one by one, as tuples with their bindings
	focus    string  // @$focus
	index    string  // #$index
	ancestor *parent // a % refers to the step
	stages   []stage // predicates and #$index after the step

	seeking []*parent // % inside whose step is not found yet
}

func (c *base) common() *base { return c }

// A stage is a predicate, or the name to which the position is bound.
type stage struct {
	predicate node
	index     string
}

// A parent is the value of a %: the input of an earlier step.
type parent struct {
	label string // name under which the step binds it
	level int    // steps that remain to go up
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
	// sortNode is a step that sorts the results of the previous steps.
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
		condition, then, otherwise node // else branch, or nil
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
		pattern, update, remove node // members to delete, or nil
	}
)

type orderTerm struct {
	by         node
	descending bool
}

// A grouping holds the members of an object: pairs of name and value.
type grouping struct {
	pairs [][2]node
	at    int
}
