package sqlstore

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestHotStatementsMakeNoTable: SQLite makes no table in memory for what each step, run, job or token writes. It makes
// one for a list behind IN, also in a generated column that the statement computes.
func TestHotStatementsMakeNoTable(t *testing.T) {
	t.Parallel()
	s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, query := range map[string]string{
		"guardRun": guardRun[onSQLite], "turnRun": turnRun[onSQLite], "leaveRun": leaveRun[onSQLite],
		"beginRow": beginRow[onSQLite], "stepRun": stepRun[onSQLite], "insertRun": insertRun[onSQLite],
		"insertOrigin": insertOrigin, "insertLabel": insertLabel, "moveLabels": moveLabels[onSQLite],
		"insertHistory": insertHistory[onSQLite], "insertPayload": insertPayload[onSQLite],
		"claimJob": claimJob[onSQLite], "bindToRun": bindToRun[onSQLite], "endWithRun": endWithRun[onSQLite],
		"finishJob": finishJob[onSQLite], "upsertTimer": upsertTimer[onSQLite], "deleteTimer": deleteTimer[onSQLite],
		"deleteMessage": deleteMessage[onSQLite], "upsertToken": upsertToken[onSQLite], "upsertLive": upsertLive[onSQLite],
		"upsertSettled": upsertSettled[onSQLite], "deleteLive": deleteLive[onSQLite], "deleteSettled": deleteSettled[onSQLite],
		"wakeRun": wakeRun, "takeRun": takeRun, "releaseRun": releaseRun,
	} {
		var ops []struct {
			Addr, P1, P2, P3, P5 int
			Opcode               string
			P4, Comment          *string
		}
		args := make([]any, max(strings.Count(query, "?"), strings.Count(query, "$")))
		err := s.view(t.Context(), func(r *session) error { return r.Once(t.Context(), &ops, "EXPLAIN "+query, args...) })
		if err != nil || len(ops) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for _, op := range ops {
			if op.Opcode == "OpenEphemeral" || op.Opcode == "OpenAutoindex" || op.Opcode == "SorterOpen" {
				t.Errorf("%s: %s", name, op.Opcode)
			}
		}
	}
}
