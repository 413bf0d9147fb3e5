package doctor

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// TestProcesses: of the processes that describe themselves, only the living ones are reported, and the descriptions of
// others are deleted.
func TestProcesses(t *testing.T) {
	t.Parallel()
	p := &patient{dsn: "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")}
	s := p.open(t)
	describe := func(owner string, is inspect.ProcessRecord) storage.RecordWrite {
		return storage.RecordWrite{Kind: inspect.ProcessRecords, Key: owner, Was: storage.AnyRevision, Body: atom.MustEncode(is)}
	}
	if _, err := s.WriteRecords(t.Context(),
		describe("dead", inspect.ProcessRecord{Version: "v0.0.1"}),
		describe(s.Owner().ID, inspect.ProcessRecord{Version: "v1.2.3", Go: "go1.99", Commits: 4, Writes: 10, SkipsWaits: true}),
	); err != nil {
		t.Fatal(err)
	}
	findings, err := p.diagnosed(t)
	if err != nil && exit.Of(err) != exit.Failure {
		t.Fatal(err)
	}
	f := findings["process"]
	if !strings.HasSuffix(f.Says, ": ebb v1.2.3 without revision, go1.99; 4 group commits of 2.5 writes, as of a minute ago") ||
		f.Metrics[`ebb_build_info{go="go1.99",revision="",version="v1.2.3"}`] != 1 ||
		f.Metrics["ebb_commits_total"] != 4 || f.Metrics["ebb_commit_writes_total"] != 10 {
		t.Errorf("of the process the doctor says %+v", f)
	}
	if findings["waits"].State != Warning {
		t.Errorf("of skipped waits it says %+v", findings["waits"])
	}
	if err := Prune(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var left []string
	for record, err := range storage.EachRecord(t.Context(), s, storage.RecordQuery{Kind: inspect.ProcessRecords}) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, record.Key)
	}
	if len(left) != 1 || left[0] != s.Owner().ID {
		t.Errorf("after the prune there are descriptions of %q", left)
	}
}
