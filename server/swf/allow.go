package swf

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// The parameters of an operation say in one of three ways which domain a request is about. The name of a domain becomes
// its key, see [aws.Account.Key]. Answers and faults have the name.
type (
	inDomain   interface{ domainName() *string }
	inTask     interface{ task() (kind, token string) }
	inResource interface{ resource() (arn string) }
)

// allows returns an error if a caller may not do an operation in its domain, or not now. Without an authorizer and a
// throttle it reads nothing.
func (s *Server) allows(ctx context.Context, caller *aws.Caller, operation string, in any) error {
	if _, limited := s.quotas.Value(QuotaRequests); !limited && s.config.Authorizer == nil {
		return nil
	}
	domain, err := s.domainOfRequest(ctx, caller, in)
	if err != nil {
		return err
	}
	if !s.permits(caller, operation, domain) {
		return aws.Errorf(notPermitted, "The caller is not authorized to perform %s", operation)
	}
	return s.throttled(domain)
}

// domainOfRequest returns the domain that the parameters of an operation are about. It returns "" for a token or an ARN
// that is not valid, which the operation itself refuses.
func (s *Server) domainOfRequest(ctx context.Context, caller *aws.Caller, in any) (string, error) {
	switch in := in.(type) {
	case inDomain:
		return *in.domainName(), nil
	case inTask:
		return s.domainOfTask(ctx, in)
	case inResource:
		if name, err := s.domainOf(caller, in.resource()); err == nil {
			return name, nil
		}
	}
	return "", nil
}

// domainOfTask asks the run of a task: a token is too short to hold the longest name of a domain.
func (s *Server) domainOfTask(ctx context.Context, in inTask) (string, error) {
	kind, token := in.task()
	t, err := s.open(ctx, kind, token)
	if err != nil {
		return "", nil //nolint:nilerr // as above
	}
	run, err := s.store.Run(ctx, t.Run)
	if errors.Is(err, storage.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if x, ok := executionOf(&run); ok {
		return x.Domain, nil
	}
	return "", nil
}

// ofDomain is the parameter that names the domain of an operation.
type ofDomain struct {
	Domain string `json:"domain"`
}

func (in *ofDomain) domainName() *string { return &in.Domain }

func (in *nameInput) domainName() *string { return &in.Name }

func (in *registerDomainInput) domainName() *string { return &in.Name }

// ofActivity is the parameter that names the activity task of an operation.
type ofActivity struct {
	Token string `json:"taskToken"`
}

func (in *ofActivity) task() (kind, token string) { return activityTask, in.Token }

func (in *respondDecisionInput) task() (kind, token string) { return decisionTask, in.Token }

// ofResource is the parameter that names the resource of an operation.
type ofResource struct {
	ARN string `json:"resourceArn"`
}

func (in *ofResource) resource() (arn string) { return in.ARN }
