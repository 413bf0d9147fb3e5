package records

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// MaxPage is the maximum size of a page.
//
//limit:protocol results in a page of a list | {} | `ValidationException`
const MaxPage = 1000

// A Page is what a request says of the page of a list that it wants.
type Page struct {
	Operation string
	Caller    *aws.Caller
	Arguments []string // the other arguments, to which the token belongs
	Token     *string  // nil asks for the first page
	Size      int      // in results; 0 means Usual
	Usual     int      // size of a page if the request does not say it

	// Wanted reports whether the list has a record; nil means that it has all of them.
	Wanted func(r *storage.NamedRecord) (bool, error)
}

// Most returns how many results the page may have.
func (p *Page) Most() int {
	if p.Size == 0 {
		return p.Usual
	}
	return min(p.Size, MaxPage)
}

// bound returns what a token of the list belongs to. The size of a page does not count: recorded calls of AWS change
// it.
func (p *Page) bound() []string {
	return slices.Concat([]string{p.Operation, p.Caller.AccessKey}, p.Arguments)
}

// After returns the place where the page begins; nil if it is the first one.
func (s *Records) After(ctx context.Context, p *Page) ([]byte, error) {
	if p.Token == nil {
		return nil, nil
	}
	tokens, err := s.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	place, err := tokens.Open(*p.Token, p.bound()...)
	if err != nil {
		return nil, s.badToken(err)
	}
	return place, nil
}

// Next returns the token of the page after a place.
func (s *Records) Next(ctx context.Context, p *Page, place []byte) (string, error) {
	tokens, err := s.Tokens(ctx)
	if err != nil {
		return "", err
	}
	return tokens.Seal(place, p.bound()...), nil
}

// Numbers reads the place where a page begins, which [Records.NextNumbers] wrote. It changes nothing if the page is the
// first one.
func (s *Records) Numbers(ctx context.Context, p *Page, into ...*int64) error {
	place, err := s.After(ctx, p)
	if err != nil || place == nil {
		return err
	}
	for _, n := range into {
		value, size := binary.Varint(place)
		if size <= 0 {
			return s.badToken(aws.ErrToken)
		}
		*n, place = value, place[size:]
	}
	return nil
}

// NextNumbers returns the token of the page after a place that numbers describe.
func (s *Records) NextNumbers(ctx context.Context, p *Page, numbers ...int64) (string, error) {
	var place []byte
	for _, n := range numbers {
		place = binary.AppendVarint(place, n)
	}
	return s.Next(ctx, p, place)
}

// pageSecret is the key of the record that has the secret of the tokens. All servers of a database share it, and it
// survives restarts.
const pageSecret = "page-tokens"

// Tokens returns the tokens of the service in this database.
func (s *Records) Tokens(ctx context.Context) (*aws.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens != nil {
		return s.tokens, nil
	}
	kind := s.service + ".secret"
	var secret []byte
	err := Retried(ctx, func() error {
		_, err := s.Read(ctx, kind, pageSecret, &secret)
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		const size = 32
		secret = make([]byte, size)
		_, _ = rand.Read(secret) // it never fails
		_, err = s.store.WriteRecords(ctx, Put(kind, pageSecret, 0, secret))
		return err
	})
	if err != nil {
		return nil, err
	}
	s.tokens, err = aws.NewTokens(secret)
	return s.tokens, err
}

// Each reads a page of records, calls each with every record that the page wants, and returns the token of the next
// page; "" if this one is the last.
func (s *Records) Each(ctx context.Context, p *Page, query storage.RecordQuery,
	each func(r *storage.NamedRecord) error,
) (next string, err error) {
	place, err := s.After(ctx, p)
	if err != nil {
		return "", err
	}
	if place != nil {
		query.After = &storage.NamedRecord{Key: string(place)}
	}
	query.Limit = p.Most() + 1 // the last one shows whether there is a next page
	for count, last := 0, ""; ; {
		found, err := s.store.NamedRecords(ctx, query)
		if err != nil || len(found) == 0 {
			return "", err
		}
		for i := range found {
			if p.Wanted != nil {
				wanted, err := p.Wanted(&found[i])
				if err != nil {
					return "", err
				}
				if !wanted {
					continue
				}
			}
			if count == p.Most() {
				return s.Next(ctx, p, []byte(last))
			}
			if err := each(&found[i]); err != nil {
				return "", err
			}
			count, last = count+1, found[i].Key
		}
		query.After = &found[len(found)-1]
	}
}
