//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTeamPage executes the page about a team's server with three processes. Clients ask HAProxy, if it is here, else the
// first. A restart is one of each process, one after another.
func TestTeamPage(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"openssl", "curl", "pg_dump"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: it is not on this machine", program)
		}
	}
	page, err := os.ReadFile("../../docs/how-to/run-a-teams-server.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// pg_dump does not know settings of the server in a DSN.
	dsn := regexp.MustCompile(`(search_path|synchronous_commit|fsync)=[^&]*&?`).ReplaceAllString(ownedDatabase(t), "")
	var ports [4]string // of three servers and the load balancer
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const functions = `set -euo pipefail
pids=() others=()
start() { ebb serve --config ebb.yaml --listen "127.0.0.1:$1" 2>>"log.$1" & pids+=($!); ready "$1"; }
ready() { for _ in $(seq 600); do curl --fail --silent --cacert tls.crt "https://ebb.example.org:$1/readyz" >ready && return; sleep 0.1; done; cat "log.$1"; exit 1; }
curl() { command curl --resolve "*:$PORT1:127.0.0.1" --resolve "*:$PORT2:127.0.0.1" --resolve "*:$PORT3:127.0.0.1" --resolve "*:$PORT4:127.0.0.1" "$@"; }
systemctl() {
	local old=("${pids[@]}") pid
	pids=()
	for port in $PORT1 $PORT2 $PORT3; do
		if ((${#old[@]} > 0)); then
			kill "${old[0]}"; wait "${old[0]}"; old=("${old[@]:1}")
		fi
		start "$port"
	done
}
trap 'kill "${pids[@]}" "${others[@]}"; wait' EXIT
`
	script, door := functions, ports[3]
	if _, err := exec.LookPath("haproxy"); err != nil {
		door = ports[0]
	}
	for _, block := range regexp.MustCompile("(?s)```(sh|yaml|haproxy)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		text := strings.NewReplacer("postgres://ebb:PASSWORD@db.example.org/ebb", dsn,
			"https://ebb.example.org/", "https://ebb.example.org:"+door+"/", "0.0.0.0:8443", "127.0.0.1:"+ports[0],
			" :443 ", " 127.0.0.1:"+ports[3]+" ", "10.0.0.1:8443", "127.0.0.1:"+ports[0], "10.0.0.2:8443", "127.0.0.1:"+ports[1],
			"10.0.0.3:8443", "127.0.0.1:"+ports[2], "/etc/haproxy/ebb.pem", "ebb.pem", "/etc/haproxy/ebb-ca.pem", "tls.crt").Replace(block[2])
		switch block[1] {
		case "yaml":
			text = "cat >ebb.yaml <<'END'\n" + text + "END\n"
		case "haproxy":
			text = "cat >haproxy.cfg <<'END'\n" + text + "END\n"
			if door == ports[3] {
				text += "cat tls.crt tls.key >ebb.pem\nhaproxy -f haproxy.cfg 2>log.$PORT4 & others+=($!)\nready $PORT4\n"
			}
		}
		script += text
	}
	script += "ebb run order.asl.json --id order-2 >done.txt\n"
	for name, text := range map[string]string{
		"page.sh":        script,
		"order.asl.json": `{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bash := exec.CommandContext(t.Context(), "bash", "page.sh")
	bash.Dir = dir
	bash.Env = append(os.Environ(), "HOME="+dir)
	for i, port := range ports {
		bash.Env = append(bash.Env, fmt.Sprintf("PORT%d=%s", i+1, port))
	}
	said, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(string(said), `"order-1"`) {
		t.Errorf("the run was not shown:\n%s", said)
	}
	metrics, err := os.ReadFile(filepath.Join(dir, "metrics.txt"))
	if err != nil || !strings.Contains(string(metrics), "ebb_build_info") {
		t.Errorf("no metrics: %v", err)
	}
}
