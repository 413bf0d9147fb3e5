package sfn

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// Reset deletes the machines, the activities and the executions of an account in all regions. If the account is "", it
// deletes those of all accounts, and all other runs of the store. What runs ends at once, without a trace. Reset
// returns how many runs there were. The machines of [Server.Load] have to be loaded again. It is for emulators.
func (s *Server) Reset(ctx context.Context, account string) (runs int, err error) {
	const part = 4 // of an ARN
	ofRun := func(run *storage.Run) bool {
		if account == "" {
			return true
		}
		x, ok := executionOf(run)
		parts := strings.Split(x.ExecutionID, ":")
		return ok && len(parts) > part && parts[part] == account
	}
	ofKey := func(key string) bool {
		of, _ := s.home.Named(key)
		return account == "" || of.ID == account
	}
	return records.Reset(ctx, s.store, ofRun, ofKey, machineKind, versionKind, aliasKind, activityKind, logKind)
}
