package jsonata

import "github.com/ebbflow/ebb/internal/ecmaregexp"

// A syntax is a node of the parsed tree of an expression. A lowering turns it into a node that is evaluated.
type syntax struct {
	kind      syntaxKind
	at        int    // offset
	text      string // of names, variables, strings and operators
	number    float64
	value     any // true, false, null
	regex     *ecmaregexp.Regexp
	left      *syntax
	right     *syntax
	third     *syntax    // else branch; members that a transform deletes
	list      []*syntax  // elements, arguments, expressions of a block
	pairs     []pair     // members of an object
	terms     []sortTerm // of an order-by
	signature *signature // of a lambda
	keepArray bool       // followed by []
}

type pair struct{ name, value *syntax }

type sortTerm struct {
	by         *syntax
	descending bool
}

type syntaxKind uint8

const (
	endSyntax syntaxKind = iota // a missing operand
	nameSyntax
	variableSyntax
	stringSyntax
	numberSyntax
	valueSyntax
	regexSyntax
	wildcardSyntax
	descendantSyntax
	parentSyntax
	keywordSyntax     // and, or, in used as a name
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
