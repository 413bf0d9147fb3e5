package main

import (
	"bytes"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestCommittedIsDone gives commands that cannot find out, after their commit, who drives the run: the record of a
// server cannot be read.
//
// Guarantee (G1): What was committed is answered as done, though the database fails right after: by the command, the
// REST API, the AWS APIs and in Go.
// Also: `engine: TestCommittedCommand`, `server/api: TestCommittedIsDone`, `server/sfn: TestCommittedIsDone`,
// `server/swf: TestCommittedStart`.
func TestCommittedIsDone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ebb.db")
	store, err := sqlstore.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	root := flow.Unordered("f",
		atom.Awaits[int]("wait", "paid", atom.Deferral{}), atom.Remote[struct{}, int]("work", "work"))
	e, err := engine.New(root, store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "r", engine.Unload()); err == nil {
		t.Fatal("it does not wait")
	}
	tokens, err := store.RunTokens(t.Context(), "r")
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	bad := storage.RecordWrite{Kind: engine.PresenceRecords, Key: "bad", Body: atom.MustEncode("bad")}
	if _, err := store.WriteRecords(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `ALTER TABLE records RENAME TO kept; CREATE VIEW records AS SELECT kind, key,
		revision, created, updated, CASE kind WHEN 'ebb.servers' THEN abs(-9223372036854775808) ELSE body END AS body FROM kept`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"complete", tokens[0].ID, "--result", "1"}, {"signal", "r", "paid", "--data", "1"}} {
		var out, said bytes.Buffer
		status := execute(t.Context(), append(args, "--dsn", file), nil, &out, &said)
		if status != 0 || out.Len() == 0 || !strings.Contains(said.String(), "overflow") {
			t.Errorf("%v exits with %d: %s%s", args, status, &out, &said)
		}
	}
}
