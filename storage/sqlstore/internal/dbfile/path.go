// Package dbfile names, opens and guards the file of a SQLite database. It does not know the content of the file.
package dbfile

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/ebbflow/ebb/internal/redact"
)

// looksLikeServer matches texts that mean a server but are not a URL, such as libpq's "host=db.example.org
// dbname=ebb".
var looksLikeServer = regexp.MustCompile(
	`^(postgres(ql)?:|\s*(host|hostaddr|port|user|password|dbname|service|sslmode)\s*=)`)

// Path returns the path that a DSN names, which is "sqlite:PATH" or a bare path. A path has no parameters: Path
// does not interpret characters such as ?.
func Path(dsn string) (string, error) {
	path, isURL := strings.CutPrefix(dsn, "sqlite:")
	scheme, _, found := strings.Cut(path, "://")
	switch {
	case found && !isURL:
		return "", fmt.Errorf("sqlstore: %s:// is not supported: give sqlite:PATH, a path, or postgres://…", scheme)
	case looksLikeServer.MatchString(path): // the text may contain a password: do not quote it
		return "", errors.New("sqlstore: the DSN is no URL of a server: give postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"or sqlite:PATH")
	case strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf("sqlstore: %q: URIs of SQLite are not supported: give sqlite:PATH or a path",
			redact.Text(strings.SplitN(dsn, "?", 2)[0]))
	case strings.TrimSpace(path) == "":
		return "", fmt.Errorf("sqlstore: %q does not name a file: give sqlite:PATH or a path", dsn)
	case path == ":memory:":
		return "", fmt.Errorf("sqlstore: %q: a database in memory has no place for its locks: use memstore.New", dsn)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sqlstore: %s: %w", path, err)
	}
	if err := trust(abs); err != nil { // another user may have created a link
		return "", err
	}
	return resolve(abs), nil
}

// maxLinks is the number of symbolic links after which a path does not lead anywhere.
const maxLinks = 40

// resolve follows symbolic links, as SQLite does, because every process that uses a file must find the same locks
// beside it. The last link may lead to a file that does not exist yet. It returns a path that it cannot follow
// unchanged.
func resolve(path string) string {
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// BusyTimeout is how long SQLite waits for a lock of the database before a statement fails.
const BusyTimeout = 5 * time.Second

// Connect opens the file. It does nothing before the first connection.
func Connect(file, mode string, pragmas ...string) (*sqlx.DB, error) {
	sqlx.BindDriver("sqlite", sqlx.QUESTION) // sqlx knows SQLite only under another driver's name
	return sqlx.Open("sqlite", uri(file, mode, pragmas...))
}

// Frozen is the mode for files that no process can write. Such files need no locks and no lock files.
const Frozen = "ro&immutable"

// uri returns the URI for the driver, with these pragmas for every connection.
func uri(file, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", BusyTimeout.Milliseconds()),
		"synchronous(FULL)",     // an acknowledged commit survives a power cut
		"foreign_keys(1)",       //
		"wal_autocheckpoint(0)", // the WAL checkpointer does this, so that commits do not wait for it
	}, pragmas...)}
	if mode == Frozen {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/work.db becomes /C:/work.db
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}
