//go:build unix

package tasks_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

func TestExec(t *testing.T) {
	t.Parallel()
	const (
		many = `i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1`
		huge = `printf '"'; head -c 1100000 /dev/zero | tr '\0' x; printf '"'`
	)
	tests := map[string]struct {
		program string // of ./task.sh
		line    string // behind exec:, when not ./task.sh
		want    string // result
		code    string // of the failure
		message string
	}{
		"input and output are JSON": {program: `cat`, want: `{"to":"Rome"}`},
		"no output is null":         {program: `:`, want: `null`},
		"arguments": {
			program: `printf '["%s","%s",%d]' "$1" "$2" $#`, line: `./task.sh 'a b'  "c d"`,
			want: `["a b","c d",2]`,
		},
		"standard error is free": {program: `echo working >&2; echo 1`, want: `1`},
		"an unread input":        {program: `exec <&-; echo 2`, want: `2`},
		"exit status":            {program: `echo no room >&2; exit 3`, code: "Exec.Exit3", message: "no room"},
		"end of standard error":  {program: many, code: "Exec.Exit1", message: "line 1999"},
		"a failure of its own": {
			program: `echo '{"Error":"Full","Cause":"no room"}'; echo x >&2; exit 1`,
			code:    "Full", message: "no room",
		},
		"an Error with status 0": {program: `echo '{"Error":"Full"}'`, want: `{"Error":"Full"}`},
		"signal":                 {program: `kill -KILL $$`, code: "Exec.SignalKILL"},
		"no JSON": {
			program: `echo hello`, code: "Runtime.MarshalError",
			message: "the output is no JSON: hello",
		},
		"two values": {
			program: `echo 1 2`, code: "Runtime.MarshalError",
			message: "the output is no JSON: 1 2",
		},
		"300 KiB pass": {program: `printf '"'; head -c 307200 /dev/zero | tr '\0' x; printf '"'`, want: `"` +
			strings.Repeat("x", 307200) + `"`},
		"more than a value may be": {
			program: huge, code: atom.CodeTooLarge,
			message: "the output is larger than 1048576 bytes",
		},
		"a program that is not there": {line: `./gone.sh`, code: "Exec.NotFound"},
		"what is left behind":         {program: `sleep 60 >/dev/null 2>&1 & echo 3`, want: `3`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script(t, filepath.Join(dir, "task.sh"), test.program)
			if test.line == "" {
				test.line = "./task.sh"
			}
			r := &tasks.Registry{Dir: dir}
			body, err := r.Task("exec:" + test.line)
			if err != nil {
				t.Fatal(err)
			}
			got, err := body.Execute(t.Context(), atom.Single(atom.MustEncode(map[string]string{"to": "Rome"})))
			f := failure(err)
			if f == nil {
				f = &atom.Failure{}
			}
			if got.String() != test.want || f.Code != test.code {
				t.Fatalf("got %.200s, %v; want %.200s, %s", got, f, test.want, test.code)
			}
			if !strings.HasSuffix(f.Message, test.message) || len(f.Message) > 5000 {
				t.Errorf("message %q; want it to end with %q", f.Message, test.message)
			}
		})
	}
}

// Guarantee (G2): A program gets the key, also for the revert.
func TestExecEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "env.sh"),
		`printf '"%s %s %s %s %s %s %s"' $EBB_KEY $EBB_RUN $EBB_PATH $EBB_INCARNATION $EBB_ATTEMPT $EBB_REVERT $EBB_OUTCOME$OWN`)
	r := &tasks.Registry{Dir: dir, Env: []string{"OWN=own"}}
	body, err := r.Task("exec:./env.sh")
	if err != nil {
		t.Fatal(err)
	}
	call := atom.Call{Run: "trip-1", Path: "Fork[0]/Book#2", Incarnation: 1, Attempt: 2}
	got, err := body.Execute(calling(t, call), atom.Single(atom.Null))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`"trip-1/Fork[0]/Book#2/1 trip-1 Fork[0]/Book#2 1 2 0 own"`, got.String()); diff != "" {
		t.Error(diff)
	}
	call.Revert = true
	got, err = body.Revert(calling(t, call), atom.Single(atom.Null), atom.Unknown[atom.Value]())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`"trip-1/Fork[0]/Book#2/1 trip-1 Fork[0]/Book#2 1 2 1 unknownown"`, got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestExecKillsGroup cancels a program whose child ignores SIGTERM. Neither remains.
func TestExecKillsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Skip("needs named pipes: ", err)
	}
	script(t, filepath.Join(dir, "task.sh"), `
		sh -c 'trap "" TERM; while :; do sleep 1; done' & # a child that will not go
		echo $$ $! >`+pids+`
		wait`)
	r := &tasks.Registry{Dir: dir, Grace: 50 * time.Millisecond}
	body, err := r.Task("exec:./task.sh")
	if err != nil {
		t.Fatal(err)
	}
	wanted := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := body.Execute(ctx, atom.Single(atom.Null))
		ended <- err
	}()
	pipe, err := os.Open(pids) // waits until the program writes
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pipe.Close() }() // it was only read
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel(wanted)
	if err := <-ended; !errors.Is(err, wanted) {
		t.Errorf("got %v; want the context's cause", err)
	}
	for text := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for running(pid) { // a killed process exists until it is reaped
			if t.Context().Err() != nil {
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestExecTimeout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "task.sh"), `exec sleep 60`)
	r := &tasks.Registry{Dir: dir}
	body, err := r.Task("exec:./task.sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := body.Execute(ctx, atom.Single(atom.Null)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v; want a timeout", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "there.sh"), ``)
	if err := os.WriteFile(filepath.Join(dir, "plain.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var r tasks.Registry
	r.Dir = dir
	r.Map("arn:aws:lambda:eu-west-1:1:function:Pay", "exec:./there.sh")
	r.Map("arn:aws:lambda:eu-west-1:1:function:Ship", "ship")
	r.Add("local:price", nothing{})
	tests := map[string]string{
		"exec:./there.sh": "",
		"exec:sh -c ':'":  "",
		"exec:./gone.sh": "tasks: exec:./gone.sh: there is no program " + dir +
			"/gone.sh (the path starts from the definition's folder)",
		"exec:no-such-program-here": "tasks: exec:no-such-program-here: there is no program no-such-program-here " +
			"(it is looked up along PATH; write ./no-such-program-here for one beside the definition)",
		"exec:./plain.sh": "tasks: exec:./plain.sh: " + dir + "/plain.sh may not be run (chmod +x " + dir +
			"/plain.sh)",
		"exec: ":                "tasks: exec:  names no program (such as exec:./book.sh flight)",
		"exec:./there.sh 'a":    "tasks: exec: the quote ' is not closed",
		"https://example.org/x": "",
		"https:///x":            "tasks: https:///x names no host (such as https://example.org/book)",
		"local:price":           "",
		"local:prise":           "tasks: there is no task local:prise (use exec:PROGRAM, https://… or worker:KIND, or map the name to one; registered are local:price)",
		"arn:aws:lambda:eu-west-1:1:function:Pay": "",
		"arn:aws:lambda:eu-west-1:1:function:Ship": "tasks: arn:aws:lambda:eu-west-1:1:function:Ship is mapped to ship, which is no task " +
			"(use exec:PROGRAM, https://… or worker:KIND, or map the name to one; registered are local:price)",
	}
	for name, want := range tests {
		got := ""
		if err := r.Check(name); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
