package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
)

// functions contains the intrinsic functions (asl.md a.8), by name without "States.".
var functions = map[string]function{
	"Format":         {1, anyNumber, format, ofResult},
	"StringToJson":   {1, 1, stringToJSON, ofResult},
	"JsonToString":   {1, 1, jsonToString, ofResult},
	"Array":          {0, anyNumber, func(args []any, _ func() uint64) (any, error) { return args, nil }, ofNothing},
	"ArrayPartition": {2, 2, arrayPartition, ofResult},
	"ArrayContains":  {2, 2, arrayContains, ofArguments},
	"ArrayRange":     {3, 3, arrayRange, ofResult},
	"ArrayGetItem":   {2, 2, arrayGetItem, ofNothing},
	"ArrayLength":    {1, 1, arrayLength, ofNothing},
	"ArrayUnique":    {1, 1, arrayUnique, ofArguments},
	"Base64Encode":   {1, 1, base64Encode, ofResult},
	"Base64Decode":   {1, 1, base64Decode, ofResult},
	"Hash":           {2, 2, hashed, ofResult},
	"JsonMerge":      {3, 3, jsonMerge, ofResult},
	"MathRandom":     {2, 3, mathRandom, ofResult},
	"MathAdd":        {2, 2, mathAdd, ofResult},
	"StringSplit":    {2, 2, stringSplit, ofResult},
	"UUID":           {0, 0, uuid4, ofResult},
}

// FunctionNames are the names of the functions in order.
var FunctionNames = slices.Sorted(maps.Keys(functions))

// Limits of functions.
const (
	//limit:asl text for `States.Base64Encode`, `Base64Decode`, `Hash` | {} characters | `States.IntrinsicFailure`
	maxEncoded = 10_000
	//limit:asl elements of `States.ArrayRange` | {} | `States.IntrinsicFailure`
	maxRange = 1000
)

var errTooLarge = fmt.Errorf("the result has more than %d bytes", data.MaxPayload)

// text returns an argument that is a string.
func text(args []any, i int) (string, error) {
	s, ok := args[i].(string)
	if !ok {
		return "", fmt.Errorf("argument %d must be a string", i+1)
	}
	return s, nil
}

// array returns the first argument, which is an array.
func array(args []any) ([]any, error) {
	a, ok := args[0].([]any)
	if !ok {
		return nil, errors.New("argument 1 must be an array")
	}
	return a, nil
}

// whole returns an argument as an integer. It rounds as Java does: halves are rounded up.
func whole(args []any, i int) (int64, error) {
	literal, ok := args[i].(json.Number)
	if !ok {
		return 0, fmt.Errorf("argument %d must be a number", i+1)
	}
	if n, err := literal.Int64(); err == nil {
		return n, nil
	}
	f, err := literal.Float64()
	if f = math.Floor(f + 0.5); err != nil || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("argument %d is out of range", i+1)
	}
	return int64(f), nil
}
