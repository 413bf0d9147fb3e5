package interop_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// template is a project of SAM as its authors deploy it.
const template = `
AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Resources:
  Sell:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: sell
      Runtime: provided.al2023
      Handler: bootstrap
      CodeUri: sell/
      Timeout: 2
      MemorySize: 256
      Environment:
        Variables:
          TABLE: orders
  Shop:
    Type: AWS::Serverless::StateMachine
    Properties:
      Name: shop
      Role: arn:aws:iam::123456789012:role/shop
      DefinitionSubstitutions:
        SellArn: !GetAtt Sell.Arn
      Definition:
        StartAt: Sell
        States:
          Sell:
            Type: Task
            Resource: arn:aws:states:::lambda:invoke
            Parameters:
              FunctionName: ${SellArn}
              Payload.$: $
            OutputPath: $.Payload
            Catch:
              - ErrorEquals: [stockError]
                ResultPath: $.error
                Next: Order
            Next: Again
          Again:
            Type: Task
            Resource: ${SellArn}
            End: true
          Order:
            Type: Pass
            Result: ordered
            End: true
`

// emulate builds ebb and the function, and starts ebb emulate with the project. It returns the endpoint.
func emulate(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	build(t, root, "GOWORK="+filepath.Join(root, "go.work"), filepath.Join(folder, "ebb"), "./cmd/ebb")
	build(t, ".", "", filepath.Join(folder, "sell", "bootstrap"), "./function")
	if err := os.WriteFile(filepath.Join(folder, "template.yaml"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), filepath.Join(folder, "ebb"), "emulate", "template.yaml", "--dsn", "memory:",
		"--listen", "127.0.0.1:0", "--log-level", "warn", "--aws-account", "123456789012", "--aws-region", "eu-west-1")
	process.Dir = folder
	output, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill() // if it still runs
		_ = process.Wait()         // killed
	})
	lines, address := bufio.NewScanner(output), ""
	for lines.Scan() {
		t.Log(lines.Text())
		if _, at, ok := strings.Cut(lines.Text(), " on http://"); ok {
			address = "http://" + strings.TrimSuffix(strings.Fields(at)[0], "/")
		}
		if strings.HasSuffix(lines.Text(), "Ready.") {
			go func() { _, _ = io.Copy(io.Discard, output) }() // it ends with the process
			return address
		}
	}
	t.Fatal("the emulator is not ready")
	return ""
}

// build builds a program.
func build(t *testing.T, folder, env, file, pkg string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, pkg)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// bounded returns a context for the calls of a test.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
