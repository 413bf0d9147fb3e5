package interop_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shellBlocks are the commands of a page.
var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

// pythonBlock is the program of a page.
var pythonBlock = regexp.MustCompile("(?s)```python\n(.*?)```")

// foreground are commands of servers that would keep the shell; --check only reads their settings.
var foreground = regexp.MustCompile(`(?m)^ebb serve( [^&#\n]*)?( #.*)?$`)

// TestPages runs the commands of pages in a shell, and checks their effects.
func TestPages(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("needs aws: the AWS CLI is not installed")
	}
	for _, page := range []struct {
		name, then string // what to do after the commands of the page
		wants      []string
	}{
		{
			"use-aws-clients", `for i in {1..50}; do # until the execution has ended
	told=$(aws stepfunctions describe-execution --execution-arn $arn:execution:call:tuesday)
	if [[ $told != *RUNNING* ]]; then break; fi
done
echo "$told"
`,
			[]string{
				`"error": "Refused"`, `"ActivityFailed"`, `"ExecutionRedriven"`, `"ExecutionSucceeded"`, "trip:monday  SUCCESS",
				`"output": "{\"StatusCode\": 200}"`,
			},
		},
		{"emulate-aws", `python3 -c "$python"`, []string{
			"execution:hello:tuesday", `"status": "SUCCEEDED"`, `{"discarded":1}`, `{"discarded":0}`, "execution:hello:monday",
		}},
		{"run-swf-deciders", "", []string{
			`"executionStatus": "OPEN"`, "\tDecisionTaskCompleted\tWorkflowExecutionCompleted\n",
			`{"input":"99","result":"receipt 4712","outcome":"done"}`, "needs a person",
			"order-17\tCOMPLETED\tNone\n", "order-18\tFAILED\tNone\n", "order-18:undo\tCOMPLETED\torder-18\n",
			"FAILURE SWF.Failed: out of stock",
		}},
	} {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			out := runPage(t, page.name, page.then)
			for _, want := range page.wants {
				if !strings.Contains(out, want) {
					t.Errorf("%s does not come:\n%s", want, out)
				}
			}
		})
	}
}

// runPage runs the commands of a page and then others, and returns their output.
func runPage(t *testing.T, name, then string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	script := "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
	for _, block := range shellBlocks.FindAllStringSubmatch(string(page), -1) {
		script += foreground.ReplaceAllString(block[1], "ebb serve --check$1") + "\n"
	}
	if block := pythonBlock.FindStringSubmatch(string(page)); block != nil {
		script += "python='" + block[1] + "'\n"
	}
	script = strings.ReplaceAll(script, "127.0.0.1:8083", address) + then
	dir := t.TempDir()
	for name, text := range map[string]string{"pay.sh": "#!/bin/sh\ncat\n", "none": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(bounded(t), "bash", "-c", script)
	cmd.Dir, cmd.WaitDelay = dir, time.Second // servers that are left keep the output open
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(command(t))+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"EBB_LISTEN="+address, "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+filepath.Join(dir, "none"), "AWS_SHARED_CREDENTIALS_FILE="+filepath.Join(dir, "none"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}
