package expression

import (
	"errors"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
)

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
