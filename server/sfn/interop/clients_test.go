package interop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a client of the server, and returns its output.
func (s *server) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(bounded(t), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ENDPOINT="+s.address, "AWS_REGION="+region, "AWS_DEFAULT_REGION="+region,
		"AWS_ACCESS_KEY_ID="+accessKey, "AWS_SECRET_ACCESS_KEY="+secretKey, "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+filepath.Join(s.dir, "none"), "AWS_SHARED_CREDENTIALS_FILE="+filepath.Join(s.dir, "none"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestJavaScript lets a program with the SDK for JavaScript do its work.
func TestJavaScript(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join("node", "node_modules", "@aws-sdk", "client-sfn")); err != nil {
		t.Skip("needs client-sfn: run npm ci in server/sfn/interop/node")
	}
	serve(t).run(t, "node", "node", "client.mjs")
}

// TestSWFJavaScript lets deciders and a worker with the SDK for JavaScript process an order.
func TestSWFJavaScript(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join("node", "node_modules", "@aws-sdk", "client-swf")); err != nil {
		t.Skip("needs client-swf: run npm ci in server/sfn/interop/node")
	}
	serve(t).run(t, "node", "node", "swf.mjs")
}

// TestSWFCLI calls all operations of Amazon SWF with the AWS CLI.
func TestSWFCLI(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("needs aws: the AWS CLI is not installed")
	}
	serve(t).run(t, ".", "bash", "swf.sh")
}

// TestCLI runs a script for infrastructure twice. The second time changes nothing. Then another script works.
func TestCLI(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("needs aws: the AWS CLI is not installed")
	}
	s := serve(t)
	first := s.run(t, ".", "bash", "cli.sh")
	if again := s.run(t, ".", "bash", "cli.sh"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	arns := strings.Fields(first)
	if len(arns) != 3 {
		t.Fatal(first)
	}
	s.run(t, ".", "bash", "cli_work.sh", arns[1], arns[0])
}
