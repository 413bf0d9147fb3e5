package swf

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// Statuses of domains and types.
const (
	registered = "REGISTERED"
	deprecated = "DEPRECATED"
)

const domainKind = "swf.domain" // the key is the name

// A domain is the record of a domain. Each write of it has a new revision. If the domain is deprecated, all types that
// were written before it are deprecated with it, and stay so when it is registered again.
type domain struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Retention   string    `json:"retention"` // as the client gave it: days, or NONE
	Tags        []tag     `json:"tags,omitempty"`
	Deprecated  time.Time `json:"deprecated,omitzero"` // zero if the domain is registered
	// Swept is the revision of the last write that deprecated the domain, and SweptAt when that was. 0 while the present
	// revision is that write.
	Swept   int64     `json:"swept,omitempty"`
	SweptAt time.Time `json:"sweptAt,omitzero"`

	record storage.NamedRecord
}

// status returns REGISTERED or DEPRECATED.
func (d *domain) status() string {
	if d.Deprecated.IsZero() {
		return registered
	}
	return deprecated
}

// swept returns the revision up to which types were deprecated with the domain.
func (d *domain) swept() int64 {
	if d.Swept == 0 && !d.Deprecated.IsZero() {
		return d.record.Revision
	}
	return d.Swept
}

// retention returns how long a closed execution is kept.
func (d *domain) retention() time.Duration {
	days, err := strconv.Atoi(d.Retention)
	if err != nil { // NONE
		return 0
	}
	const day = 24 * time.Hour
	return time.Duration(days) * day
}

// unchanged returns the condition that the domain has not changed since it was read.
func (d *domain) unchanged() storage.RecordCheck {
	return storage.RecordCheck{Kind: domainKind, Key: d.Name, Revision: d.record.Revision}
}

// domain returns the domain with a name, or AWS's fault.
func (s *Server) domain(ctx context.Context, name string) (*domain, error) {
	d := &domain{}
	var err error
	d.record, err = s.records.Read(ctx, domainKind, name, d)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrInvalid) {
		return nil, unknownDomain(name)
	}
	return d, err
}

// usable returns the domain with a name, unless it is deprecated: then new types and executions are refused.
func (s *Server) usable(ctx context.Context, name string) (*domain, error) {
	d, err := s.domain(ctx, name)
	if err == nil && d.status() == deprecated {
		err = aws.Errorf(domainDeprecated, "%s", nameOf(name))
	}
	return d, err
}

// changeDomain lets do change a domain, and writes it. If another operation writes the domain meanwhile, do is called
// again.
func (s *Server) changeDomain(ctx context.Context, name string, do func(d *domain) error) error {
	return records.Retried(ctx, func() error {
		d, err := s.domain(ctx, name)
		if err != nil {
			return err
		}
		if d.Swept = d.swept(); d.SweptAt.IsZero() {
			d.SweptAt = d.Deprecated
		}
		if err := do(d); err != nil {
			return err
		}
		_, err = s.store.WriteRecords(ctx, records.Put(domainKind, name, d.record.Revision, d))
		return err
	})
}

// nameOf returns the name of the domain with a key.
func nameOf(key string) string {
	_, name := aws.Account{}.Named(key)
	return name
}

type nameInput struct {
	Name string `json:"name"`
}

// A domainInfo describes a domain.
type domainInfo struct {
	Name        string `json:"name"`
	Status      string `json:"status"`
	Description string `json:"description,omitempty"`
	ARN         string `json:"arn"`
}

func (s *Server) domainInfo(d *domain) domainInfo {
	of, name := s.config.Account.Named(d.Name)
	return domainInfo{name, d.status(), d.Description, of.ARN("swf", "/domain/"+name)}
}
