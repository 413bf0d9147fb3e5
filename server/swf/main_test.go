package swf_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// servedVariable names the database that a child process of the tests serves.
const servedVariable = "EBB_TEST_SWF_SERVES"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(servedVariable); dsn != "" {
		serveAlone(dsn)
		return
	}
	goleak.VerifyTestMain(m)
}
