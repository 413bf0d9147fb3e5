package sm4c_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/ebbflow/ebb/flow/sm4c"
)

var updateSchema = flag.Bool("update", false, "rewrite the schema for editors")

const schemaFile = "../../docs/reference/sm4c.schema.json"

// TestSchemaFile: the file for editors agrees with the tables.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	if *updateSchema {
		if err := os.WriteFile(schemaFile, sm4c.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, sm4c.Schema()) {
		t.Errorf("%s is out of date: go test ./flow/sm4c -run TestSchemaFile -update", schemaFile)
	}
}
