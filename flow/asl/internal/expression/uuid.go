package expression

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// NamedUUID returns a UUID (version 8) that is the same for the same name.
func NamedUUID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return UUID(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]), 8)
}

// uuid4 gives a random UUID (version 4).
func uuid4(_ []any, random func() uint64) (any, error) { return UUID(random(), random(), 4), nil }

// UUID returns the UUID with a version and the given bits.
func UUID(high, low, version uint64) string {
	high = high&^0xf000 | version<<12
	low = low&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&0xffffffffffff)
}
