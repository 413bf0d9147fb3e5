//go:build unix

package lambda_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/lambda"
)

// bootstrapFolder makes the test's binary a bootstrap, whose files are in that folder.
const bootstrapFolder = "LAMBDA_TEST_BOOTSTRAP"

// bootstrapped returns a function whose bootstrap is the test's binary.
func bootstrapped(t *testing.T, name string) lambda.Function {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return lambda.Function{
		Name: name, Runtime: "provided.al2023", Handler: "some.handler", Timeout: time.Minute, MemoryMB: 512,
		Code:        write(t, map[string]string{"bootstrap": "#!/bin/sh\nexec '" + self + "'\n", "version": "1"}),
		Environment: map[string]string{bootstrapFolder: t.TempDir()},
	}
}

// A wanted is the payload of an invocation of the bootstrap.
type wanted struct {
	Do    string
	Files int // in Wait: how many invocations to wait for
}

// beBootstrap speaks the Runtime API, without a library.
func beBootstrap() int {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/"
	version, _ := os.ReadFile("version")
	if bytes.HasPrefix(version, []byte("init ")) {
		post(api+"init/error", string(version[5:]))
		return 1
	}
	for {
		resp, err := http.Get(api + "invocation/next")
		if err != nil {
			return 2
		}
		payload, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		var in wanted
		_ = json.Unmarshal(payload, &in)
		invocation := api + "invocation/" + resp.Header.Get("Lambda-Runtime-Aws-Request-Id")
		switch in.Do {
		case "error":
			post(invocation+"/error", `{"errorType":"OutOfStock","errorMessage":"no tea","stackTrace":[{"path":"main.go","line":3,"label":"main"}]}`)
		case "exit":
			return 7
		case "leave":
			return 0
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "hang":
			hang()
		case "flood":
			line := []byte(strings.Repeat("x", 999) + "\n")
			for range 20_000 {
				_, _ = os.Stdout.Write(line)
			}
			post(invocation+"/response", `"flooded"`)
		case "large":
			post(invocation+"/response", `"`+strings.Repeat("x", lambda.MaxPayload+99)+`"`)
		case "allocate":
			kept := make([]byte, 900<<20)
			for i := 0; i < len(kept); i += 512 {
				kept[i] = 1
			}
			time.Sleep(time.Minute)
		case "wait":
			post(invocation+"/response", strconv.Itoa(meet(in.Files)))
		case "twice":
			again, err := http.Get(api + "invocation/next")
			if err == nil {
				_ = again.Body.Close()
			}
			wrong := post(api+"invocation/00000000-0000-0000-0000-000000000000/response", "1")
			post(invocation+"/response", fmt.Sprintf(`[%d, %d]`, again.StatusCode, wrong))
		default:
			text, _ := json.Marshal(map[string]any{
				"api": os.Getenv("AWS_LAMBDA_RUNTIME_API"), "arn": resp.Header.Get("Lambda-Runtime-Invoked-Function-Arn"),
				"pid": os.Getpid(), "version": string(version), "payload": json.RawMessage(payload),
			})
			post(invocation+"/response", string(text))
		}
	}
}

func post(url, body string) int {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// hang starts a process in a session of its own, which the folder lists, and waits with it.
func hang() {
	child := exec.Command("sh", "-c", "trap '' TERM; setsid sleep 600 & echo $! >"+os.Getenv(bootstrapFolder)+"/hung; sleep 600")
	_ = child.Run()
}

// meet waits until a number of invocations wait, and returns the process.
func meet(count int) int {
	folder := os.Getenv(bootstrapFolder)
	_ = os.WriteFile(filepath.Join(folder, strconv.Itoa(os.Getpid())), nil, 0o600)
	for {
		if files, _ := os.ReadDir(folder); len(files) >= count {
			return os.Getpid()
		}
		time.Sleep(time.Millisecond)
	}
}

// described is what the bootstrap returns by default.
type described struct {
	API, ARN, Version string
	PID               int
	Payload           json.RawMessage
}

func describedBy(t *testing.T, a answer) (d described) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &d); err != nil || a.status != http.StatusOK {
		t.Fatalf("answer %d %s", a.status, a.body)
	}
	return d
}

// serverFolder makes the test's binary a server with a function of that folder, which hangs.
const serverFolder = "LAMBDA_TEST_SERVER"

// beServer calls a function that does not return.
func beServer() {
	s, err := lambda.New(lambda.Config{Functions: []lambda.Function{{
		Name: "Hang", Runtime: "provided", Code: os.Getenv(serverFolder), Timeout: time.Minute,
		Environment: map[string]string{bootstrapFolder: os.Getenv(serverFolder)},
	}}})
	if err != nil {
		panic(err)
	}
	call(new(testing.T), s, "Hang", `{"Do": "hang"}`)
}
