package sqlstore

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/redact"
)

// looksLikeServer finds what is meant for a server and is no URL of one, such as
// libpq's "host=db.example.org dbname=ebb".
var looksLikeServer = regexp.MustCompile(`^(postgres(ql)?:|\s*(host|hostaddr|port|user|password|dbname|service|sslmode)\s*=)`)

// fileOf returns the path that a DSN names, which is "sqlite:PATH" or a bare
// path. Names are taken as they are: there are no parameters.
func fileOf(dsn string) (string, error) {
	path, isURL := strings.CutPrefix(dsn, "sqlite:")
	scheme, _, found := strings.Cut(path, "://")
	switch {
	case found && !isURL:
		return "", fmt.Errorf("sqlstore: %s:// is not supported: give sqlite:PATH, a path, or postgres://…", scheme)
	case looksLikeServer.MatchString(path): // which may have a password in it
		return "", errors.New("sqlstore: the DSN is no URL of a server: give postgres://USER:PASSWORD@HOST:PORT/DATABASE, or sqlite:PATH")
	case strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf("sqlstore: %q: URIs of SQLite are not supported: give sqlite:PATH or a path", redact.Text(strings.SplitN(dsn, "?", 2)[0]))
	case path == "":
		return "", fmt.Errorf("sqlstore: %q names no file: give sqlite:PATH or a path", dsn)
	case path == ":memory:":
		return "", fmt.Errorf("sqlstore: %q: a database in memory has no place for its locks: use memstore.New", dsn)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sqlstore: %s: %w", path, err)
	}
	if err := trust(abs); err != nil { // a link that another user made
		return "", err
	}
	return resolve(abs), nil
}

// resolve follows symbolic links, as SQLite does: every process that uses a file must find
// the same locks beside it. A path that cannot be followed yet stays as it is.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// connect opens the file; nothing happens before the first connection.
func connect(file, mode string, pragmas ...string) (*sqlx.DB, error) {
	sqlx.BindDriver("sqlite", sqlx.QUESTION) // which sqlx knows under another driver's name only
	return sqlx.Open("sqlite", uri(file, mode, pragmas...))
}

// frozen is the mode for files that no process can write. Such files need no locks, and no
// files for locks.
const frozen = "ro&immutable"

// uri returns what the driver opens, with these pragmas on every connection.
func uri(file, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"synchronous(FULL)",     // a commit that was acknowledged survives a power cut
		"foreign_keys(1)",       //
		"wal_autocheckpoint(0)", // the checkpointer does it, off the path of commits
	}, pragmas...)}
	if mode == frozen {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/work.db
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}
