package aws

// Words that AWS has for a value of the wrong type.
var (
	javaNames = map[kind]string{
		stringKind: "a String", integerKind: "an Integer", longKind: "a Long", floatKind: "a Float",
		booleanKind: "a Boolean", timeKind: "milliseconds since epoch",
	}
	tokens = map[byte]string{'"': "STRING_VALUE", 't': "TRUE_VALUE", 'f': "FALSE_VALUE"}
)

// fits reports whether a value that begins with a byte may be of a kind.
func fits(k kind, first byte) bool {
	switch k {
	case structureKind:
		return first == '{'
	case listKind:
		return first == '['
	case stringKind:
		return first == '"'
	case booleanKind:
		return first == 't' || first == 'f'
	case jsonKind:
		return true
	default: // numbers
		return first == '-' || '0' <= first && first <= '9'
	}
}

// unexpected returns the error for a value that begins with a byte, and is not of a kind.
func unexpected(k kind, first byte) error {
	switch {
	case first == '[':
		return Errorf(codeSerialization, "Start of list found where not expected")
	case first == '{':
		return Errorf(codeSerialization, "Start of structure or map found where not expected.")
	case k == structureKind:
		return Errorf(codeSerialization, "Expected null")
	case k == listKind:
		return Errorf(codeSerialization, "Expected list or null")
	}
	found, ok := tokens[first]
	if !ok {
		found = "NUMBER_VALUE"
	}
	return Errorf(codeSerialization, "%s can not be converted to %s", found, javaNames[k])
}
