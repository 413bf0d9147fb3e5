package check

// Limits of definitions.
const (
	// MaxDefinition is the maximum size in bytes of a definition or a loaded document.
	//
	//limit:sm4c definition; loaded document (`sm4c.MaxDefinition`) | {B} each
	MaxDefinition = 1 << 20
	// maxNesting bounds the nesting of objects and arrays in a definition.
	maxNesting   = 200
	maxName      = 256 // bytes in a name
	maxDocuments = 100 // documents that a definition may load
)
