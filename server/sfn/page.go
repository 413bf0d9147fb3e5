package sfn

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// Sizes of pages, in results.
const (
	defaultPage = 100
	maxPage     = 1000
)

// A page is what a request says of the page of a list that it wants.
type page struct {
	operation string
	caller    *aws.Caller
	arguments []string // the other arguments, to which the token belongs
	token     *string
	size      int
}

// most returns how many results the page may have.
func (p *page) most() int {
	if p.size == 0 {
		return defaultPage
	}
	return min(p.size, maxPage)
}

// bound returns what a token of the list belongs to.
func (p *page) bound() []string {
	return slices.Concat([]string{p.operation, p.caller.AccessKey, strconv.Itoa(p.size)}, p.arguments)
}

// after returns the place where the page begins; nil if it is the first one.
func (s *Server) after(ctx context.Context, p *page) ([]byte, error) {
	if p.token == nil {
		return nil, nil
	}
	tokens, err := s.pageTokens(ctx)
	if err != nil {
		return nil, err
	}
	place, err := tokens.Open(*p.token, p.bound()...)
	if err != nil {
		return nil, errBadToken
	}
	return place, nil
}

// next returns the token of the page after a place.
func (s *Server) next(ctx context.Context, p *page, place []byte) (string, error) {
	tokens, err := s.pageTokens(ctx)
	if err != nil {
		return "", err
	}
	return tokens.Seal(place, p.bound()...), nil
}

// pageSecret is the key of the record that has the secret of the page tokens. All servers of a database share it, and
// it survives restarts.
const pageSecret = "page-tokens"

// pageTokens returns the tokens of the database.
func (s *Server) pageTokens(ctx context.Context) (*aws.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens != nil {
		return s.tokens, nil
	}
	var secret []byte
	err := retried(ctx, func() error {
		_, err := s.read(ctx, secretKind, pageSecret, &secret)
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		const size = 32
		secret = make([]byte, size)
		_, _ = rand.Read(secret) // it never fails
		_, err = s.config.Store.WriteRecords(ctx, put(secretKind, pageSecret, 0, secret))
		return err
	})
	if err != nil {
		return nil, err
	}
	s.tokens, err = aws.NewTokens(secret)
	return s.tokens, err
}

// records reads a page of records, calls each with every record, and returns the token of the next page; "" if this one
// is the last.
func (s *Server) records(ctx context.Context, p *page, query storage.RecordQuery,
	each func(r *storage.NamedRecord) error,
) (next string, err error) {
	place, err := s.after(ctx, p)
	if err != nil {
		return "", err
	}
	if place != nil {
		query.After = &storage.NamedRecord{Key: string(place)}
	}
	query.Limit = p.most() + 1 // the last one shows whether there is a next page
	count, last := 0, ""
	for record, err := range storage.EachRecord(ctx, s.config.Store, query) {
		if err != nil {
			return "", err
		}
		if count == p.most() {
			return s.next(ctx, p, []byte(last))
		}
		if err := each(&record); err != nil {
			return "", err
		}
		count, last = count+1, record.Key
	}
	return "", nil
}
