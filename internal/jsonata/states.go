package jsonata

import (
	"crypto/md5"  //nolint:gosec // what the language offers
	"crypto/sha1" //nolint:gosec // what the language offers
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"math"
)

// Functions that the States Language adds, with the answers measured on AWS, and functions that depend on time or
// random bits.

// uniform returns a random number from 0 up to but not including 1.
func (r *run) uniform() float64 { return float64(r.bits()>>11) / (1 << 53) }

func (r *run) bits() uint64 {
	if r.random == nil {
		return 0
	}
	return r.random()
}

// tooMany refuses arguments from the given number on.
func tooMany(args []any, from int) error {
	if from < len(args) && args[from] != nil {
		return unfit(from)
	}
	return nil
}

// unfit returns the fault of an argument of the wrong type.
func unfit(i int) error { return &fault{code: "T0410", index: i + 1} }

// whole returns a numeric argument without its fraction.
func whole(args []any, i int) (float64, error) {
	n, ok := number(args[i])
	if !ok || math.IsNaN(n) {
		return 0, unfit(i)
	}
	return math.Trunc(n), nil
}

// random returns a random number. With a seed, it is the first one of java.util.Random.
func random(r *run, args []any) (any, error) {
	if err := tooMany(args, 1); err != nil || args[0] == nil {
		return r.uniform(), err
	}
	n, err := whole(args, 0)
	if err != nil {
		return nil, err
	}
	const multiplier, mask = 0x5DEECE66D, 1<<48 - 1
	seed := (saturated(n) ^ multiplier) & mask
	next := func(bits int) int64 {
		seed = (seed*multiplier + 0xB) & mask
		return seed >> (48 - bits)
	}
	high := next(26) << 27
	return float64(high+next(27)) / (1 << 53), nil
}

// saturated converts a number to the nearest 64-bit integer.
func saturated(n float64) int64 {
	switch {
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	}
	return int64(n)
}

// uuid returns a random UUID of version 4.
func uuid(r *run, args []any) (any, error) {
	if err := tooMany(args, 0); err != nil {
		return nil, err
	}
	var b [16]byte
	for i := range b {
		if i%8 == 0 {
			bits := r.bits()
			for j := range 8 {
				b[i+j] = byte(bits >> (8 * j))
			}
		}
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:], nil
}

var hashes = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-256": sha256.New,
	"SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// hashOf returns the digest of a text.
func hashOf(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if err := tooMany(args, 2); err != nil {
		return nil, err
	}
	if !ok {
		return nil, unfit(0)
	}
	if args[1] == nil {
		return undefined, nil
	}
	algorithm, ok := argument[string](args, 1)
	if !ok {
		return nil, unfit(1)
	}
	algorithmic, ok := hashes[algorithm]
	if !ok {
		return nil, &fault{code: "D3137", message: "Hash algorithm '" + algorithm +
			"' must be one of SHA-1, SHA-384, SHA-256, SHA-512, MD5"}
	}
	r.work(len(text) / 4)
	h := algorithmic()
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// parseText returns the value of a JSON text.
func parseText(r *run, args []any) (any, error) {
	if err := tooMany(args, 1); err != nil || args[0] == nil {
		return nil, err
	}
	text, ok := argument[string](args, 0)
	if !ok {
		return nil, unfit(0)
	}
	r.work(len(text) / 4)
	v, err := (&decoder{text: []byte(text), aws: true}).document()
	if err != nil {
		return nil, &fault{code: "D3137", message: "Invalid JSON"}
	}
	return v, nil
}

// partition splits an array into arrays of the given length.
func partition(r *run, args []any) (any, error) {
	if err := tooMany(args, 2); err != nil || args[0] == nil {
		return nil, err
	}
	list, ok := argument[*array](args, 0)
	if !ok {
		return nil, &fault{code: "T0412", value: args[0], index: 1}
	}
	if len(list.items) == 0 {
		return undefined, nil
	}
	out := &array{}
	if args[1] == nil {
		out.push(list)
		return out, nil
	}
	size, err := whole(args, 1)
	switch {
	case err != nil:
		return nil, err
	case size < 0:
		return nil, &fault{code: "D3137", message: "Second argument must be zero or greater"}
	case size == 0:
		return undefined, nil
	}
	for items := list.items; len(items) > 0; {
		n := int(min(size, float64(len(items))))
		part := &array{}
		for _, item := range items[:n] {
			part.push(item)
		}
		items = items[n:]
		r.work(1 + n/4)
		out.push(part)
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

// rangeOf returns the numbers of a range with a step. A single number is not wrapped in an array.
func rangeOf(r *run, args []any) (any, error) {
	if err := tooMany(args, 3); err != nil {
		return nil, err
	}
	from, err := whole(args, 0)
	if err != nil {
		return nil, err
	}
	to, err := whole(args, 1)
	if err != nil || args[2] == nil {
		return nil, err
	}
	step, err := whole(args, 2)
	switch {
	case err != nil:
		return nil, err
	case step == 0 || step > 0 && from > to || step < 0 && from < to:
		return undefined, nil
	}
	n := math.Floor((to-from)/step) + 1
	if n > maxRange || math.IsNaN(n) {
		r.stop(errSize)
		return nil, r.broken
	}
	if !r.make(int(n) * scalarSize) {
		return nil, r.broken
	}
	out := emptySequence()
	for i := range int(n) {
		out.push(from + float64(i)*step)
	}
	return out, nil
}
