package swf

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
)

type registerDomainInput struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Retention   string `json:"workflowExecutionRetentionPeriodInDays"`
	Tags        []tag  `json:"tags"`
}

func (s *Server) registerDomain(ctx context.Context, _ *aws.Caller, in *registerDomainInput) (*empty, error) {
	if days, err := strconv.ParseInt(in.Retention, 10, 64); err == nil {
		if most, limited := s.quotas.Value(QuotaRetention); limited && days > most {
			return nil, invalid("Retention period in days must be from 0 to %d, or NONE", most)
		}
	}
	tags, err := s.tagged(nil, in.Tags)
	if err != nil {
		return nil, err
	}
	d := &domain{Name: in.Name, Description: in.Description, Retention: in.Retention, Tags: tags}
	return nil, records.Retried(ctx, func() error {
		switch _, err := s.domain(ctx, in.Name); {
		case err == nil:
			return aws.Errorf(domainAlreadyExists, "%s", nameOf(in.Name))
		case !isFault(err, unknownResource):
			return err
		}
		count, err := s.store.CountRecords(ctx, domainKind, strings.TrimSuffix(in.Name, nameOf(in.Name)))
		if err != nil {
			return err
		}
		if err := s.quotas.Within(QuotaDomains, int64(count)+1, limitExceeded); err != nil {
			return err
		}
		_, err = s.store.WriteRecords(ctx, records.Put(domainKind, in.Name, 0, d))
		return err
	})
}

// isFault reports whether an error is a fault of the API.
func isFault(err error, code string) bool {
	e, ok := errors.AsType[*aws.Error](err)
	return ok && e.Code == code
}
