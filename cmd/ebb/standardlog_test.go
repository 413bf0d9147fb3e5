package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServersWriteNoLog: if a server sends an unsolicited response, ebb does not write the server's text to standard
// error. If the operator asks for debug entries, the text is logged in the format of the log.
//
// Attack (Answers of other servers): Unsolicited text on a kept connection, to write to Ebb's standard error.
// Result: A log entry of level debug.
func TestServersWriteNoLog(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = conn.Read(make([]byte, 1<<16))
				_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\nMISCHIEF")) // the rest is no answer to anything
			}()
		}
	}()
	dir := t.TempDir()
	file := filepath.Join(dir, "f.asl.json")
	text := `{"StartAt":"Ask","States":{"Ask":{"Type":"Task","Resource":"http://` + l.Addr().String() + `/","Next":"Wait"},"Wait":{"Type":"Wait","Seconds":1,"End":true}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"info", "debug"} {
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "ebb", "run", "--dsn", filepath.Join(dir, level+".db"), "--log-level", level, file)
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &errs)
		}
		said := ""
		for line := range strings.Lines(errs.String()) {
			if strings.Contains(line, "MISCHIEF") {
				said += line
			}
		}
		if wanted := level == "debug"; wanted != strings.Contains(said, "[DEBUG] ebb: http.error: message=\"Unsolicited response") || !wanted && said != "" {
			t.Errorf("on level %s it says %q", level, said)
		}
	}
}
