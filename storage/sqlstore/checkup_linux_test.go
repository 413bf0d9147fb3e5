package sqlstore_test

import (
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestSharedFileSystem tells what other machines may have, whether the file is there
// or not. It is not parallel, as it answers for the system.
func TestSharedFileSystem(t *testing.T) { //nolint:paralleltest // see above
	file := filepath.Join(t.TempDir(), "runs.db")
	for number, want := range map[int64]string{0x6969: "NFS", 0xff534d42: "CIFS", 0xef53: "", 0x01021994: ""} {
		if got, err := sqlstore.SharedIf(file, number); got != want || err != nil {
			t.Errorf("%#x is %q (%v), want %q", number, got, err, want)
		}
	}
	if c, err := sqlstore.Examine(t.Context(), file); err != nil || c.Schema.Version != 0 || c.Engine == "" || c.Server || c.Time.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
}
