package swf

import (
	"context"

	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// Reset deletes the domains of an account in all regions, with their types and executions; of all accounts if the
// account is "". Open executions end at once, without a trace. It returns how many executions there were. It is for
// emulators.
func (s *Server) Reset(ctx context.Context, account string) (executions int, err error) {
	ofKey := func(key string) bool {
		of, _ := s.config.Account.Named(key)
		return account == "" || of.ID == account
	}
	ofRun := func(run *storage.Run) bool {
		x, ok := executionOf(run)
		return ok && ofKey(x.Domain)
	}
	return records.Reset(ctx, s.store, ofRun, ofKey, domainKind, workflowTypes.record, activityTypes.record)
}
