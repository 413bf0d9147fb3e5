package asl

import "github.com/ebbflow/ebb/internal/jsonpath"

// iterated is what only a Map state has.
type iterated struct {
	path        *jsonpath.Path // ItemsPath
	items       *listed        // Items; nil, without a path, too: the input itself
	selector    payload        // nil: the item as it is
	processor   *level
	concurrency amount       // 0: all at once
	count       amount       // ToleratedFailureCount
	percentage  amount       // ToleratedFailurePercentage
	distributed *distributed // nil: the items run in the machine itself
}

// listed are the Items of a Map state.
type listed struct {
	payload

	at place
}
