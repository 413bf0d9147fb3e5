package server

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestReadinessSaysNoMore: why a server is not ready, which may name the database, its host
// and its user, is told only to those with a key without a purpose.
//
// Attack (HTTP server): `/readyz` while the database is down.
// Result: `not ready`; only the log and keys without a purpose get the reason.
// Also: `conductor: TestHealth`.
func TestReadinessSaysNoMore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("me "+rightKey+"\npython "+workersKey+" tasks events\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	down := faultstore.New(memstore.New(), func(faultstore.Call) faultstore.Fault {
		return faultstore.Fault{Err: errors.New("dial ebb@db.example.org:5432/ledger")}
	})
	c, err := conductor.New(jobs.New(down, jobs.Policy{}), conductor.NewCatalog())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []Options{{}, {Address: "0.0.0.0:8083", Keys: file}} {
		s, err := New(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []string{"", "Bearer " + wrongKey, "Bearer " + workersKey, "Bearer " + rightKey} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/readyz", http.NoBody)
			r.Header.Set("Authorization", header)
			w := httptest.NewRecorder()
			s.Guard(s.Ready(c.Ready)).ServeHTTP(w, r)
			told := strings.Contains(w.Body.String(), "idle")
			if w.Code != http.StatusServiceUnavailable || told != (at.Keys != "" && strings.HasSuffix(header, rightKey)) || !told && w.Body.String() != "not ready\n" {
				t.Errorf("at %s with %q: %d %s", at.Address, header, w.Code, w.Body)
			}
		}
	}
}

// TestReadyNotes asks a server that is ready. Only a client with a key for all paths receives its notes.
func TestReadyNotes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("me "+rightKey+"\npython "+workersKey+" tasks events\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Address: "127.0.0.1:0", Keys: file})
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{"": "ok\n", "Bearer " + workersKey: "ok\n", "Bearer " + rightKey: "ok\na note\n"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/readyz", http.NoBody)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		s.Guard(s.Ready(func(context.Context) error { return nil }, "a note")).ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("with %q: %d %q", header, w.Code, w.Body)
		}
	}
}

// certificate writes a certificate for localhost, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	public, err := x509.CreateCertificate(rand.Reader, is, is, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestTLS: over TLS there is no HTTP/2, with its many requests on a connection; a client
// that reads may ask again and again, and one that pipelines is hung up on.
//
// Attack (HTTP server): HTTP/2 rapid reset.
// Result: Only HTTP/1.1, also over TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	s, err := New(Options{Cert: cert, CertKey: key})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	server := s.serving(http.HandlerFunc(echo))
	served := make(chan error)
	go func() { served <- server.Serve(tls.NewListener(newConnections(plain, 10, true), s.tls)) }()
	dial := func() *visit {
		t.Helper()
		dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}}
		conn, err := dialer.DialContext(t.Context(), "tcp", plain.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if protocol := conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; protocol != "" {
			t.Errorf("it speaks %s", protocol)
		}
		return &visit{t, conn, bufio.NewReader(conn)}
	}
	patient := dial()
	for range 100 {
		patient.send(get, "a").wants(200, "/a")
	}
	hasty := dial().send("%s", strings.Repeat(fmt.Sprintf(get, "b"), 20)) // which one record of TLS holds: all arrive at once
	hasty.wants(200, "/b")
	hasty.wants(200, "/b")
	if status, _ := hasty.answered(); status != 0 {
		t.Error("a third request was answered")
	}
	dial().send("GET /a HTTP/1.1\r\nHost: localhost\r\n%s\r\n", strings.Repeat("x:\r\n", 8000)).wants(431, "") // by its bytes
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// FuzzKeys: no file of keys makes the reader panic, or admits a client that sends no key of the file.
func FuzzKeys(f *testing.F) {
	f.Add("me "+rightKey+"\n# a comment\npython "+workersKey+" tasks events\n", "/tasks/poll")
	f.Fuzz(func(t *testing.T, text, path string) {
		all, err := parseKeys("keys", []byte(text))
		if err != nil {
			return
		}
		if n := len(all.holders) + len(all.secrets); n == 0 || n > maxKeys {
			t.Errorf("there are %d keys", n)
		}
		waiting := &keyring{keys: all, looked: time.Now().Add(time.Hour)}
		for _, shown := range []string{"", "Bearer", "Bearer ", "Bearer " + path, "Basic " + rightKey} {
			r := &http.Request{Header: http.Header{"Authorization": {shown}}}
			if of := waiting.of(r); of != nil && !strings.Contains(text, strings.TrimSpace(path)) {
				t.Errorf("%q lets in %v", shown, of)
			}
		}
		for _, of := range all.holders {
			if len(of.only) > 0 && of.may(http.MethodPost, "/readyz") {
				t.Errorf("%v may be told all", of)
			}
			of.may(http.MethodPost, path)
		}
	})
}
