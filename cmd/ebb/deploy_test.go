package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
)

// TestDeploy: the files that are to be deployed say what this command knows.
func TestDeploy(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var said bytes.Buffer
	args := []string{"serve", "--check", "--config", "../../deploy/ebb.yaml", "--dir", "."}
	if status := execute(context.Background(), args, strings.NewReader(""), &said, &said); status != exitSuccess {
		t.Errorf("ebb.yaml: %d %s", status, &said)
	}

	unit := read("ebb.service")
	for _, want := range []string{"Type=notify\n", "KillSignal=SIGTERM\n", "ExecStart=/usr/local/bin/ebb serve --config /etc/ebb/ebb.yaml\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %s", want)
		}
	}
	stop, err := time.ParseDuration(regexp.MustCompile(`TimeoutStopSec=(\d+)\n`).FindStringSubmatch(unit)[1] + "s")
	if least := conductor.DefaultDrain + engine.DefaultGrace + goodbye; err != nil || stop <= least {
		t.Errorf("what is to stop is killed after %v; it may take %v (%v)", stop, least, err)
	}

	docker := read("Dockerfile")
	for _, m := range regexp.MustCompile(`\bEBB_([A-Z_]+)=`).FindAllStringSubmatch(docker, -1) {
		name := strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(m[1], "_FILE")), "_", "-")
		s := &session{}
		if serve, _, err := s.command().Find([]string{"serve"}); err != nil || serve.Flags().Lookup(name) == nil && serve.InheritedFlags().Lookup(name) == nil {
			t.Errorf("the Dockerfile sets EBB_%s, and there is no --%s", m[1], name)
		}
	}
}
