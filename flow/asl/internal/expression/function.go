package expression

import (
	"crypto/md5"  //nolint:gosec // the language has it
	"crypto/sha1" //nolint:gosec // the language has it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// NamedUUID returns a UUID (version 8) that is the same for the same name.
func NamedUUID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return UUID(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]), 8)
}

// functions contains the intrinsic functions (asl.md a.8), by name without "States.".
var functions = map[string]function{
	"Format":         {1, anyNumber, format},
	"StringToJson":   {1, 1, stringToJSON},
	"JsonToString":   {1, 1, jsonToString},
	"Array":          {0, anyNumber, func(args []any, _ func() uint64) (any, error) { return args, nil }},
	"ArrayPartition": {2, 2, arrayPartition},
	"ArrayContains":  {2, 2, arrayContains},
	"ArrayRange":     {3, 3, arrayRange},
	"ArrayGetItem":   {2, 2, arrayGetItem},
	"ArrayLength":    {1, 1, arrayLength},
	"ArrayUnique":    {1, 1, arrayUnique},
	"Base64Encode":   {1, 1, base64Encode},
	"Base64Decode":   {1, 1, base64Decode},
	"Hash":           {2, 2, hashed},
	"JsonMerge":      {3, 3, jsonMerge},
	"MathRandom":     {2, 3, mathRandom},
	"MathAdd":        {2, 2, mathAdd},
	"StringSplit":    {2, 2, stringSplit},
	"UUID":           {0, 0, uuid4},
}

// FunctionNames are the names of the functions in order.
var FunctionNames = slices.Sorted(maps.Keys(functions))

// Limits of functions.
const (
	maxEncoded = 10_000 // characters, of Base64Encode, Base64Decode and Hash
	maxRange   = 1000   // elements, of ArrayRange
)

var errTooLarge = fmt.Errorf("the result has more than %d bytes", data.MaxPayload)

// text, array and whole return an argument of that type, or an error.
func text(args []any, i int) (string, error) {
	s, ok := args[i].(string)
	if !ok {
		return "", fmt.Errorf("argument %d must be a string", i+1)
	}
	return s, nil
}

func array(args []any) ([]any, error) {
	a, ok := args[0].([]any)
	if !ok {
		return nil, errors.New("argument 1 must be an array")
	}
	return a, nil
}

// whole rounds as Java does: halves are rounded up.
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

// format replaces each {} of a text by an argument.
func format(args []any, _ func() uint64) (any, error) {
	template, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	var b []byte
	used := 1
	for i := 0; i < len(template) && len(b) <= data.MaxPayload; i++ {
		switch {
		case template[i] == '\\' && i+1 < len(template) && strings.IndexByte(`'\{}`, template[i+1]) >= 0:
			i++
			b = append(b, template[i])
		case strings.HasPrefix(template[i:], "{}"):
			if used == len(args) {
				return nil, fmt.Errorf("the text has more {} than the %d values behind it", len(args)-1)
			}
			b = appendJava(b, args[used])
			used++
			i++
		default:
			b = append(b, template[i])
		}
	}
	if len(b) > data.MaxPayload {
		return nil, errTooLarge
	}
	if used < len(args) {
		return nil, fmt.Errorf("the text has %d {} for %d values", used-1, len(args)-1)
	}
	return string(b), nil
}

// appendJava appends a value as Java prints it: texts bare, objects as {a=1}.
func appendJava(b []byte, v any) []byte {
	if len(b) > data.MaxPayload {
		return b
	}
	switch v := v.(type) {
	case string:
		return append(b, v...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendJava(b, element)
		}
		return append(b, ']')
	case *jsontext.OrderedMap:
		between := "{"
		for name, member := range v.All() {
			b = append(append(append(b, between...), name...), '=')
			b, between = appendJava(b, member), ", "
		}
		if v.Len() == 0 {
			b = append(b, '{')
		}
		return append(b, '}')
	}
	return data.AppendJSON(b, v, false)
}

func stringToJSON(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err != nil || strings.TrimSpace(s) == "" {
		return nil, err
	}
	v, err := data.Decode([]byte(s))
	if err != nil {
		return nil, errors.New("argument 1 is not JSON")
	}
	if v == json.Number("-0") {
		v = json.Number("0")
	}
	return v, nil
}

func jsonToString(args []any, _ func() uint64) (any, error) {
	d := data.Tree(args[0])
	if d.TooLarge() {
		return nil, errTooLarge
	}
	return d.Encoded().String(), nil
}

func arrayPartition(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	size, err := whole(args, 1)
	if err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, errors.New("argument 2 must be at least 1")
	}
	parts := []any{}
	for part := range slices.Chunk(list, int(min(size, int64(len(list))+1))) {
		parts = append(parts, part)
	}
	return parts, nil
}

// same returns the text by which values are compared: their JSON with members ordered by name.
func same(v any) string { return string(data.AppendJSON(nil, v, true)) }

func arrayContains(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	wanted := same(args[1])
	return slices.ContainsFunc(list, func(v any) bool { return same(v) == wanted }), nil
}

func arrayUnique(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	unique := []any{}
	for _, v := range list {
		if key := same(v); !seen[key] {
			seen[key] = true
			unique = append(unique, v)
		}
	}
	return unique, nil
}

func arrayRange(args []any, _ func() uint64) (any, error) {
	first, err := whole(args, 0)
	last, err2 := whole(args, 1)
	by, err3 := whole(args, 2)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	if by == 0 {
		return nil, errors.New("argument 3 must not be 0")
	}
	numbers := []any{}
	for n := first; by > 0 && n <= last || by < 0 && n >= last; n += by {
		if len(numbers) == maxRange {
			return nil, fmt.Errorf("the range has more than %d numbers", maxRange)
		}
		numbers = append(numbers, data.Number(n))
		if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
			break
		}
	}
	return numbers, nil
}

func arrayGetItem(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	i, err := whole(args, 1)
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(list)) {
		return nil, fmt.Errorf("the array has no element %d", i)
	}
	return list[i], nil
}

func arrayLength(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	return data.Number(int64(len(list))), err
}

func short(s string) error {
	if len([]rune(s)) > maxEncoded {
		return fmt.Errorf("argument 1 has more than %d characters", maxEncoded)
	}
	return nil
}

func base64Encode(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err == nil {
		err = short(s)
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), nil
}

func base64Decode(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err == nil {
		err = short(s)
	}
	if err != nil {
		return nil, err
	}
	out, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("argument 1 is not Base64")
	}
	return strings.ToValidUTF8(string(out), "\ufffd"), nil
}

// hashes contains the hash algorithms of the language.
var hashes = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

func hashed(args []any, _ func() uint64) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		d := data.Tree(args[0])
		if d.TooLarge() {
			return nil, errTooLarge
		}
		s = d.Encoded().String()
	}
	if err := short(s); err != nil {
		return nil, err
	}
	name, err := text(args, 1)
	if err != nil {
		return nil, err
	}
	algorithm, ok := hashes[name]
	if !ok {
		return nil, errors.New("argument 2 must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512")
	}
	h := algorithm()
	_, _ = h.Write([]byte(s)) // writing to a hash cannot fail
	return hex.EncodeToString(h.Sum(nil)), nil
}

// jsonMerge merges two objects; members of the second take precedence. The language has no deep merge.
func jsonMerge(args []any, _ func() uint64) (any, error) {
	a, ok := args[0].(*jsontext.OrderedMap)
	b, ok2 := args[1].(*jsontext.OrderedMap)
	switch {
	case !ok || !ok2:
		return nil, errors.New("arguments 1 and 2 must be objects")
	case args[2] != false:
		return nil, errors.New("argument 3 must be false: only shallow merging is there")
	}
	merged := jsontext.NewOrderedMap(a.Len() + b.Len())
	for _, object := range []*jsontext.OrderedMap{a, b} {
		for name, value := range object.All() {
			merged.Set(name, value)
		}
	}
	return merged, nil
}

func mathAdd(args []any, _ func() uint64) (any, error) {
	a, err := whole(args, 0)
	b, err2 := whole(args, 1)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	if sum := a + b; (sum > a) == (b > 0) {
		return data.Number(sum), nil
	}
	return nil, errors.New("the sum is out of range")
}

// mathRandom returns a number from the first argument up to, but excluding, the second. The same seed returns the
// same number.
func mathRandom(args []any, random func() uint64) (any, error) {
	from, err := whole(args, 0)
	to, err2 := whole(args, 1)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	if to <= from {
		return nil, errors.New("argument 2 must be greater than argument 1")
	}
	var bits uint64
	if len(args) == 3 {
		seed, err := whole(args, 2)
		if err != nil {
			return nil, err
		}
		bits = scramble(uint64(seed))
	} else {
		bits = random()
	}
	return data.Number(from + int64(bits%uint64(to-from))), nil
}

// scramble computes evenly distributed bits from a seed (splitmix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// stringSplit splits at any character of the second argument and drops empty parts.
func stringSplit(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	at, err := text(args, 1)
	if err != nil {
		return nil, err
	}
	pieces := []any{}
	for _, piece := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(at, r) }) {
		pieces = append(pieces, piece)
	}
	return pieces, nil
}

// uuid4 gives a random UUID (version 4).
func uuid4(_ []any, random func() uint64) (any, error) { return UUID(random(), random(), 4), nil }

// UUID returns the UUID with a version and the given bits.
func UUID(high, low, version uint64) string {
	high = high&^0xf000 | version<<12
	low = low&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&0xffffffffffff)
}
