package jsonata

// Functions on values of any type.

func toBoolean(_ *run, args []any) (any, error) {
	if args[0] == nil {
		return undefined, nil
	}
	if isFunction(args[0]) {
		return false, nil
	}
	return truth(args[0])
}

func not(r *run, args []any) (any, error) {
	v, err := toBoolean(r, args)
	if ok, isBool := v.(bool); isBool {
		return !ok, err
	}
	return nil, err
}

func exists(_ *run, args []any) (any, error) { return args[0] != nil, nil }

func typeName(_ *run, args []any) (any, error) {
	if args[0] == nil {
		return undefined, nil
	}
	return Value{args[0]}.Kind().String(), nil
}

func raise(_ *run, args []any) (any, error) {
	message, _ := argument[string](args, 0)
	if message == "" {
		message = "$error() function evaluated"
	}
	return nil, &fault{code: "D3137", message: message}
}

func assert(_ *run, args []any) (any, error) {
	if ok, _ := argument[bool](args, 0); ok {
		return undefined, nil
	}
	message, _ := argument[string](args, 1)
	if message == "" {
		message = "$assert() statement failed"
	}
	return nil, &fault{code: "D3141", message: message}
}
