package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// services are the services that a test may need, by the name that tests use. Each function looks where the tests look.
// It returns a description of what it found, or "".
var services = map[string]func() string{
	"aws":             func() string { return findProgram("aws") },
	"axe-core":        func() string { return findModule("server", "console", "axe-core") },
	"chromium":        func() string { return findProgram("chromium") },
	"client-sfn":      func() string { return findModule("server", "sfn", "@aws-sdk", "client-sfn") },
	"postgres":        findPostgres,
	"conformance":     findConformance,
	"initdb":          findInitdb,
	"python3":         func() string { return findProgram("python3") },
	"systemd-analyze": func() string { return findProgram("systemd-analyze") },
}

// whereIs says where a service is, or "" if it is missing. An unknown name counts as present. Otherwise tests that need
// it could be skipped for ever.
func whereIs(service string) string {
	find, known := services[service]
	if !known {
		return fmt.Sprintf("cannot look for %s: add it to internal/testlog/services.go", service)
	}
	return find()
}

// findPostgres looks at EBB_TEST_POSTGRES, then for a server on this machine.
func findPostgres() string {
	if os.Getenv("EBB_TEST_POSTGRES") != "" {
		return "EBB_TEST_POSTGRES is set"
	}
	if at := answering([]address{{"unix", "/var/run/postgresql/.s.PGSQL.5432"}, {"tcp", "127.0.0.1:5432"}}); at != "" {
		return "postgres answers at " + at
	}
	return ""
}

// findInitdb looks for the programs of a PostgreSQL server.
func findInitdb() string {
	if dir := os.Getenv("EBB_TEST_INITDB"); dir != "" {
		return "EBB_TEST_INITDB is set"
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return path + " is here"
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 { // the pattern is well formed
		return found[0] + " is here"
	}
	return ""
}

// findProgram looks along PATH.
func findProgram(name string) string {
	if at, err := exec.LookPath(name); err == nil {
		return at + " is here"
	}
	return ""
}

// findModule looks for a JavaScript package where npm installs it for the tests of a server.
func findModule(root, server string, name ...string) string {
	folder := filepath.Join(append([]string{root, server, "interop", "node", "node_modules"}, name...)...)
	if _, err := os.Stat(folder); err != nil {
		return ""
	}
	return folder + " is here"
}

// findConformance looks for the folder of recorded cases: EBB_CONFORMANCE, or the one beside the checkout in whose root
// it runs.
func findConformance() string {
	folder := os.Getenv("EBB_CONFORMANCE")
	if folder == "" {
		folder = filepath.Join("..", "shared", "conformance")
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return folder + " is here"
}

// An address is where a server may listen.
type address struct{ network, at string }

// answering returns the first address that accepts a connection within a second, or "".
func answering(addresses []address) string {
	dialer := net.Dialer{Timeout: time.Second}
	for _, a := range addresses {
		if conn, err := dialer.DialContext(context.Background(), a.network, a.at); err == nil {
			_ = conn.Close()
			return a.at
		}
	}
	return ""
}
