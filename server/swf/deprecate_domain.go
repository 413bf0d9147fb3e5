package swf

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/server/aws"
)

// deprecateDomain deprecates a domain, and with it all its types. Open executions continue.
func (s *Server) deprecateDomain(ctx context.Context, _ *aws.Caller, in *nameInput) (*empty, error) {
	return nil, s.changeDomain(ctx, in.Name, func(d *domain) error {
		if d.status() == deprecated {
			return aws.Errorf(domainDeprecated, "%s", nameOf(d.Name))
		}
		d.Deprecated = s.config.Now()
		d.Swept, d.SweptAt = 0, d.Deprecated
		return nil
	})
}

// undeprecateDomain registers a deprecated domain again. Its types stay deprecated.
func (s *Server) undeprecateDomain(ctx context.Context, _ *aws.Caller, in *nameInput) (*empty, error) {
	return nil, s.changeDomain(ctx, in.Name, func(d *domain) error {
		if d.status() == registered {
			return aws.Errorf(domainAlreadyExists, "%s", nameOf(d.Name))
		}
		d.Deprecated = time.Time{}
		return nil
	})
}
