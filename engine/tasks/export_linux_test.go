package tasks

// NameOf and TakeName are for tests.
var (
	NameOf   = nameOf
	TakeName = takeName
)
