package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// dpkg returns commands of dpkg for a root folder of the test's own, whose packages and files it alone sees.
func dpkg(t *testing.T, root string) func(args ...string) {
	needs(t, "dpkg")
	admin := filepath.Join(root, "var/lib/dpkg")
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(admin, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) {
		t.Helper()
		cmd := command(t, "dpkg", append([]string{"--root=" + root, "--log=/dev/null", "--force-script-chrootless,not-root"}, args...)...)
		cmd.Env = append(cmd.Env, "PATH=/usr/sbin:/sbin:"+os.Getenv("PATH"))
		said(t, cmd)
	}
}

func TestDeb(t *testing.T) {
	root := t.TempDir()
	dpkg := dpkg(t, root)
	deb := asset(t, first, "*_amd64.deb")
	dpkg("--install", deb)
	ebb := at(t, filepath.Join(root, "usr/bin/ebb"))
	works(t, first, ebb)
	dpkg("--verify", "ebb")

	keys := filepath.Join(root, "etc/ebb/keys")
	key, err := os.ReadFile(keys)
	if err != nil || !regexp.MustCompile(`^me [0-9a-f]{64}\n$`).Match(key) {
		t.Errorf("the first key is %q (%v)", key, err)
	}
	if info, err := os.Stat(keys); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file is %v (%v)", info.Mode(), err)
	}
	said(t, ebb("serve", "--check", "--config", filepath.Join(root, "etc/ebb/ebb.yaml"), "--dsn", "sqlite:ebb.db", "--dir", ".", "--keys", keys))
	if _, err := exec.LookPath("systemd-sysusers"); err == nil && os.Getuid() == 0 {
		users, _ := os.ReadFile(filepath.Join(root, "etc/passwd"))
		info, err := os.Stat(filepath.Join(root, "var/lib/ebb"))
		if err != nil || !bytes.Contains(users, []byte("ebb:x:")) || info.Sys().(*syscall.Stat_t).Uid == 0 {
			t.Errorf("there is no user with a folder: %v %s", err, users)
		}
	}
	const mine = "dsn: sqlite:/srv/ebb.db\n"
	config := filepath.Join(root, configuration)
	if err := os.WriteFile(config, []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg("--force-confold", "--install", asset(t, second, "*_amd64.deb"))
	works(t, second, ebb)
	if body, _ := os.ReadFile(config); string(body) != mine {
		t.Errorf("the upgrade wrote the configuration %q", body)
	}
	if after, _ := os.ReadFile(keys); !bytes.Equal(after, key) {
		t.Error("the upgrade changed the keys")
	}
	dpkg("--purge", "ebb")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/ebb")); !os.IsNotExist(err) {
		t.Errorf("after a purge: %v", err)
	}
}

// TestUpgradeWhileARunIsOpen: dpkg replaces the file of a process that drives a run. The process drains, and the new
// one goes on where it was.
func TestUpgradeWhileARunIsOpen(t *testing.T) {
	root := t.TempDir()
	dpkg := dpkg(t, root)
	dpkg("--install", asset(t, first, "*_amd64.deb"))
	ebb := at(t, filepath.Join(root, "usr/bin/ebb"))
	dir := ebb().Dir
	const machine = `{"StartAt": "Before", "States": {
		"Before": {"Type": "Task", "Resource": "exec:./step before", "Next": "During"},
		"During": {"Type": "Task", "Resource": "exec:./step during", "Next": "After"},
		"After": {"Type": "Task", "Resource": "exec:./step after", "End": true}}}`
	const step = "#!/bin/sh\necho $1 >>log\nif [ $1 = during ]; then while [ ! -e go ]; do sleep 0.1; done; fi\necho {}\n"
	for name, body := range map[string]string{"order.asl.json": machine, "step": step} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	log := func() string { body, _ := os.ReadFile(filepath.Join(dir, "log")); return string(body) }
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not within a minute; the log is %q", what, log())
			}
		}
	}
	serve := func(drain string) (stop func()) {
		t.Helper()
		cmd := ebb("serve", "--dsn", "sqlite:ebb.db", "--drain", drain)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			t.Helper()
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil {
				t.Errorf("the process that was to stop: %v\n%s", err, &out)
			}
		}
	}
	said(t, ebb("post", "order.asl.json", "--id", "one", "--dsn", "sqlite:ebb.db"))
	stop := serve("100ms")
	until("it is driven", func() bool { return strings.Contains(log(), "during") })

	dpkg("--install", asset(t, second, "*_amd64.deb"))
	if is := said(t, ebb("version")); !strings.HasPrefix(is, "ebb v0.1.1") {
		t.Errorf("dpkg left %s", is)
	}
	stop()
	if got := log(); got != "before\nduring\n" {
		t.Errorf("the old process has done %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	stop = serve("10s")
	until("it ends", func() bool { return strings.Contains(log(), "after") })
	stop()
	if got := said(t, ebb("list", "--dsn", "sqlite:ebb.db")); !strings.Contains(got, "SUCCESS") {
		t.Errorf("the run is not done: %s", got)
	}
	if got := log(); !strings.HasPrefix(got, "before\nduring\n") || strings.Count(got, "before") != 1 {
		t.Errorf("what was done was done again: %q", got)
	}
}
