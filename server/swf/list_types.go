package swf

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type listTypesInput struct {
	paging

	ofDomain

	Name   string `json:"name"`
	Status string `json:"registrationStatus"`
}

func (in *listTypesInput) arguments() []string { return []string{in.Domain, in.Name, in.Status} }

// listTypes calls each with the types of a page, in the order of their names, and returns the token of the next page.
func (s *Server) listTypes(ctx context.Context, k *typeKind, p *records.Page, in *listTypesInput,
	each func(r *registration),
) (next string, err error) {
	d, err := s.domain(ctx, in.Domain)
	if err != nil {
		return "", err
	}
	prefix := typeKey(d.Name, "")
	if in.Name != "" {
		prefix = typeKey(d.Name, in.Name, "")
	}
	var found *registration
	p.Wanted = func(r *storage.NamedRecord) (bool, error) {
		found = &registration{record: *r}
		err := records.Decode(r, found)
		return found.of(d).status() == in.Status, err
	}
	next, err = s.records.Each(ctx, p, storage.RecordQuery{Kind: k.record, Prefix: prefix, Reverse: in.Reverse},
		func(*storage.NamedRecord) error {
			each(found)
			return nil
		})
	if errors.Is(err, storage.ErrInvalid) { // no type has such a name
		return "", nil
	}
	return next, err
}
