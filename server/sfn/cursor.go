package sfn

import (
	"context"
	"encoding/binary"
)

// numbers reads the place where a page begins, which [Server.nextNumbers] wrote. It changes nothing if the page is the
// first one.
func (s *Server) numbers(ctx context.Context, p *page, into ...*int64) error {
	place, err := s.after(ctx, p)
	if err != nil || place == nil {
		return err
	}
	for _, n := range into {
		value, size := binary.Varint(place)
		if size <= 0 {
			return errBadToken
		}
		*n, place = value, place[size:]
	}
	return nil
}

// nextNumbers returns the token of the page after a place that numbers describe.
func (s *Server) nextNumbers(ctx context.Context, p *page, numbers ...int64) (string, error) {
	var place []byte
	for _, n := range numbers {
		place = binary.AppendVarint(place, n)
	}
	return s.next(ctx, p, place)
}
