package jsonata

import "github.com/ebbflow/ebb/internal/ecmaregexp"

// A syntax is a node of the tree that an expression is read into. What is
// evaluated is made of it by a lowering.
type syntax struct {
	kind      syntaxKind
	at        int    // offset
	text      string // of names, variables, strings and operators
	number    float64
	value     any // true, false, null
	regex     *ecmaregexp.Regexp
	left      *syntax
	right     *syntax
	third     *syntax    // else; delete of a transform
	list      []*syntax  // elements, arguments, expressions of a block
	pairs     []pair     // members of an object
	terms     []sortTerm // of an order-by
	signature *signature // of a lambda
	keepArray bool       // [] stands behind it
}

type pair struct{ name, value *syntax }

type sortTerm struct {
	by         *syntax
	descending bool
}

type syntaxKind uint8

const (
	endSyntax syntaxKind = iota // where an operand is missing
	nameSyntax
	variableSyntax
	stringSyntax
	numberSyntax
	valueSyntax
	regexSyntax
	wildcardSyntax
	descendantSyntax
	parentSyntax
	keywordSyntax     // and, or, in where a name stands
	placeholderSyntax // ? as an argument
	binarySyntax      // text is the operator
	filterSyntax      // left[right]
	groupSyntax       // left{pairs}
	orderSyntax       // left^(terms)
	negateSyntax
	arraySyntax
	objectSyntax
	callSyntax
	partialSyntax
	lambdaSyntax
	conditionSyntax
	blockSyntax
	transformSyntax
)
