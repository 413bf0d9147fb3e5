package backend_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
)

// TestDefinitionHash: each part of a definition counts, and where it ends.
//
// Guarantee (Jobs): The same text under two names is two definitions, each with its versions and runs.
// Also: `cmd/ebb: TestScripts` (`same_text`).
func TestDefinitionHash(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for _, d := range [][3]string{
		{"trip", "asl", "{}"},
		{"tour", "asl", "{}"},
		{"trip", "sm4c", "{}"},
		{"trip", "asl", "{} "},
		{"tripa", "sl", "{}"},
		{"trip asl", "", "{}"},
		{"", "trip asl", "{}"},
		{`trip" "asl`, "", "{}"},
		{"trip\n", "asl", "{}"},
		{"trip", "asl\n", "{}"},
		{"trip", "asl", "\n{}"},
		{"", "", ""},
	} {
		hash := backend.DefinitionHash(d[0], d[1], []byte(d[2]))
		if met[hash] || len(hash) != 64 || hash != backend.DefinitionHash(d[0], d[1], []byte(d[2])) {
			t.Errorf("%q: %s", d, hash)
		}
		met[hash] = true
	}
}
