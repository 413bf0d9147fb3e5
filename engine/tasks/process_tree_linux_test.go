package tasks_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// trees are programs that start others. Each creates the file ready once all run, and then executes the file "then" of
// its folder.
var trees = map[string]string{
	"in the background":          `sleep 600 & sleep 600 & (sleep 600; sleep 600) &`,
	"pipeline":                   `sleep 600 | cat | cat &`,
	"double fork":                `(sleep 600 &) ; (sh -c 'sleep 600 & sleep 600' &)`,
	"session of its own":         `setsid sleep 600 & (setsid setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 </dev/null &)`,
	"ignores SIGTERM":            `(trap '' TERM HUP INT; while :; do sleep 1; done) & (trap '' TERM; setsid sh -c 'while :; do sleep 1; done') &`,
	"closes its descriptors":     `(exec 0<&- 1>&- 2>&- 3>&- 4>&-; sleep 600) & (exec 0<&- 1>&- 2>&-; setsid sleep 600) &`,
	"stopped":                    `sleep 600 & kill -STOP $!; setsid sleep 600 & kill -STOP $!`,
	"forks all the time":         `n=0; while [ $n -lt 25 ]; do (i=0; while [ $i -lt 9999 ]; do /bin/true; i=$((i+1)); done) & n=$((n+1)); done`,
	"forks all the time, apart":  `n=0; while [ $n -lt 25 ]; do setsid sh -c 'i=0; while [ $i -lt 9999 ]; do (/bin/true &); i=$((i+1)); done' & n=$((n+1)); done`,
	"forks, and leaves at once":  `printf '#!/bin/sh\n[ $1 -gt 0 ] && setsid ./run.sh $(($1-1)) &\n' >run.sh; chmod +x run.sh; ./run.sh 9999`,
	"without its environment":    `env -i TREE=$TREE setsid sleep 600 &`,
	"another group in its group": `set -m; (sleep 600; sleep 600) & set +m`,
}

// familyOf is in the environment of all processes of a tree.
const familyOf = "TREE="

// grow writes a program into a new folder. It returns the folder and the variable in the environment of all of its
// processes. They are killed when the test ends.
func grow(t *testing.T, tree, then string) (dir, family string) {
	t.Helper()
	dir = t.TempDir()
	family = familyOf + dir
	script(t, filepath.Join(dir, "task.sh"), "TREE="+dir+"; export TREE; cd "+dir+"\n"+tree+"\n: >ready\n"+then+"\n")
	t.Cleanup(func() {
		for _, pid := range members(t, family) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return dir, family
}

// members returns the processes that have a variable in their environment and are not zombies.
func members(t *testing.T, variable string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		environ, err := os.ReadFile(path + "/environ")
		pid, _ := strconv.Atoi(filepath.Base(path)) // the pattern says so
		if err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	for pause := time.Millisecond; !so(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(limit) || t.Context().Err() != nil {
			t.Fatal("waited in vain: ", what)
		}
		time.Sleep(pause)
	}
}

func waitReady(t *testing.T, dir string) {
	t.Helper()
	waitFor(t, "the program is ready", func() bool {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err == nil
	})
}

func waitGone(t *testing.T, family string) {
	t.Helper()
	waitFor(t, "all processes are gone", func() bool { return len(members(t, family)) == 0 })
}

// noneLeft fails the test if a process of a family exists.
func noneLeft(t *testing.T, family string) {
	t.Helper()
	for _, pid := range members(t, family) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may be gone by now
		t.Errorf("process %d is left: %q", pid, line)
	}
}
