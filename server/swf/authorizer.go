package swf

import (
	"github.com/ebbflow/ebb/server/aws"
)

// An Authorizer decides what clients may do.
type Authorizer interface {
	// Permits reports whether a client may do an operation, or make a decision, in a domain. The access key is "" if the
	// server requires no keys. The operation is one of the API, such as "StartWorkflowExecution", or the type of a
	// decision, such as "StartTimer". The domain is "" if the operation has none, or if its task token or ARN is not one
	// of this server.
	Permits(accessKey, operation, domain string) bool
}

// permits asks the authorizer, if there is one.
func (s *Server) permits(caller *aws.Caller, operation, domain string) bool {
	return s.config.Authorizer == nil || s.config.Authorizer.Permits(caller.AccessKey, operation, domain)
}
