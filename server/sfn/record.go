package sfn

// Kinds of the named records in the store.
const (
	machineKind  = "sfn.machine"  // key: the name
	versionKind  = "sfn.version"  // key: see versionKey
	aliasKind    = "sfn.alias"    // key: see aliasKey
	activityKind = "sfn.activity" // key: the name
)

// defaultPage is the size of a page if the client does not say it, in results.
//
//limit:sfn results in a page of a list, if the client does not say | {}
const defaultPage = 100
