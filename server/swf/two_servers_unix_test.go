//go:build unix

package swf_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestTwoServers runs scenarios of the client against two servers of one database, which answer in turn. After each
// group, one server is killed and another takes its place.
//
// Guarantee (G2): Two servers of one database that answer in turn serve Amazon SWF as one does, also after kills.
// Also: with `EBB_TEST_LONG=all` in all scenarios.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	client := builtClient(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testTwoServers(t, client, filepath.Join(t.TempDir(), "ebb.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		testTwoServers(t, client, dsn)
	})
}

// shared are scenarios in which one server answers for what the other has begun.
var shared = []string{
	`^(activity\.(fail|cancel-unstarted)|decision\.token-semantics)$`, `^child\.(complete|cancel)$`,
	`^(lambda\.complete$|signal\.|cancel\.)`,
}

func testTwoServers(t *testing.T, client, dsn string) {
	t.Helper()
	var servers [2]*childtest.Process
	var addresses [2]atomic.Pointer[url.URL]
	start := func(i int) {
		servers[i] = childtest.Start(t, servedVariable+"="+dsn)
		address, err := url.Parse(servers[i].Line())
		if err != nil || address.Host == "" {
			t.Fatalf("server %d has no address: %v", i, err)
		}
		addresses[i].Store(address)
	}
	start(0)
	start(1)
	var calls atomic.Int64
	port := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(addresses[calls.Add(1)%2].Load())
	}})
	t.Cleanup(port.Close)
	scenarios, more := shared, []string(nil)
	if longtest.All() {
		scenarios, more = parts, []string{"-longpoll"}
	}
	for i, scenario := range scenarios {
		args := append([]string{"-endpoint", port.URL, "-run", scenario, "-lambda", echo, "-v"}, more...)
		checks := exec.CommandContext(t.Context(), client, args...)
		out, err := checks.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PASS ") || !strings.Contains(string(out), " 0 skip") {
			t.Errorf("scenarios %s: %v: %s", scenario, err, out)
		}
		if last := strings.LastIndex(string(out), "TOTAL "); last >= 0 {
			t.Logf("scenarios %s: %s", scenario, out[last:])
		}
		servers[i%2].Kill()
		start(i % 2)
	}
}
