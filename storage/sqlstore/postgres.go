package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

const (
	// lanesShared is how many transactions that many writes share are made at the same
	// time on a server: the second when the first goes on and fullBatch more are there.
	// Then the server works for both, while fewer would only wait for the same disk.
	lanesShared = 2
	fullBatch   = 128
	// lanesApart is how many transactions go alone at the same time beside these.
	lanesApart = 3
	// maxConnections bounds a store's connections: the lanes, the readers, the
	// lease renewer's, and one in passing.
	maxConnections = lanesShared + lanesApart + maxReaders + 1
	// sharedWait is how long a transaction that many writes share waits for a row that another
	// transaction has locked. After that, the write that needs the row runs alone.
	sharedWait = 20 * time.Millisecond

	connectTimeout = 10 * time.Second

	// A connection on which nothing comes is asked after that time whether the other
	// side is there, so often, and then given up: nothing waits for ever on one that
	// was cut without a word.
	probeAfter = 10 * time.Second
	probeEvery = 5 * time.Second
	probes     = 3

	defaultSchema = "ebb"
	idleTimeout   = "idle_in_transaction_session_timeout"
	minIdle       = 5 * time.Second
	minLease      = 100 * time.Millisecond
)

// A server is where a PostgreSQL database is found.
type server struct {
	config     *pgx.ConnConfig
	place      string // for people: without user and password
	schema     string // in which Ebb's tables are
	steps      fs.FS  // the migrations
	userTxIdle string // how long users' transactions may do nothing; "" as long as all others
	path       string // the search path that users' own statements have
	lease      time.Duration
	db         *sqlx.DB
}

// isServer reports whether a DSN names a server's database.
func isServer(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// serverOf returns what a DSN names: a URL as PostgreSQL's own programs take it,
// with two more parameters, schema and lease. What it leaves out comes from the environment
// (PGHOST, PGUSER, PGPASSWORD …) and from ~/.pgpass.
func serverOf(dsn string) (*server, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("sqlstore: the DSN is no URL: give postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters escaped")
	}
	s := &server{schema: defaultSchema, steps: migrations, lease: DefaultLease}
	q := u.Query()
	if name := q.Get("schema"); name != "" {
		s.schema = name
		q.Del("schema")
	}
	if text := q.Get("lease"); text != "" {
		if s.lease, err = time.ParseDuration(text); err != nil || s.lease < minLease {
			return nil, fmt.Errorf("sqlstore: lease=%s in the DSN: want a duration of %v or more, such as 10s", text, minLease)
		}
		q.Del("lease")
	}
	if len(q) < len(u.Query()) {
		u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // which is no space to the driver
	}
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // the error itself has the DSN in it
			return nil, fmt.Errorf("sqlstore: %s: %w", withoutPassword(u), cause)
		}
		return nil, fmt.Errorf("sqlstore: %s: the DSN is not valid: check host, port and parameters", withoutPassword(u))
	}
	s.config = config
	host := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	if strings.HasPrefix(config.Host, "/") {
		host = config.Host
	}
	s.place = "postgres://" + host + "/" + config.Database
	if s.schema != defaultSchema {
		s.place += "?schema=" + s.schema
	}
	if config.ConnectTimeout == 0 || q.Get("connect_timeout") == "" {
		config.ConnectTimeout = connectTimeout
	}
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes}}
	config.DialFunc = dialer.DialContext
	set := func(name, value string) {
		if config.RuntimeParams[name] == "" {
			config.RuntimeParams[name] = value
		}
	}
	s.path = config.RuntimeParams["search_path"]
	if s.path == "" {
		s.path = `"$user", public`
	}
	config.RuntimeParams["search_path"] = pgx.Identifier{s.schema}.Sanitize()
	config.RuntimeParams["timezone"] = "UTC"
	set("application_name", "ebb")
	set("statement_timeout", millis(30*time.Second))
	set("lock_timeout", millis(15*time.Second))
	config.AfterConnect = planBy(config.RuntimeParams)
	return s, nil
}

// planning is what keeps plans good that are made before the server has counted the rows
// of a table, and kept after: all that Ebb asks has an index, by which it reads few rows in
// their order. Then a scan of the table looks as cheap, for as long as there are few rows.
var planning = []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "enable_sort", "jit"}

// planBy turns off what is in planning when a connection was made, but for what the DSN
// or PGOPTIONS names. It is no parameter of the connection, so that users' own statements
// can be given the server's setting, see lendServer.
func planBy(given map[string]string) func(context.Context, *pgconn.PgConn) error {
	var off strings.Builder
	for _, name := range planning {
		if given[name] == "" && !strings.Contains(given["options"], name) {
			off.WriteString("SET " + name + " = off;")
		}
	}
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		return conn.Exec(ctx, off.String()).Close()
	}
}

// impatient bounds how long the server keeps what a process has locked that was cut
// off or stopped in the middle of a transaction: not much longer than it counts as
// alive. Users' transactions may take their time, see lendServer.
func (s *server) impatient(lease time.Duration) {
	if s.config.RuntimeParams[idleTimeout] == "" {
		s.config.RuntimeParams[idleTimeout] = millis(max(lease, minIdle))
		s.userTxIdle = millis(time.Minute)
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// withoutPassword returns a DSN that may be shown.
func withoutPassword(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// open makes ready to connect; nothing happens before the first connection.
func (s *server) open() {
	s.db = sqlx.NewDb(stdlib.OpenDB(*s.config, stdlib.OptionAfterConnect(takeColumns)), "pgx")
	s.db.SetMaxOpenConns(maxConnections)
	s.db.SetMaxIdleConns(maxConnections)
}

// users returns an INSERT for a transaction of user code, which has its own search
// path.
func (s *server) users(insert string) string {
	return spellPostgres(strings.Replace(insert, "INSERT INTO ", "INSERT INTO "+pgx.Identifier{s.schema}.Sanitize()+".", 1))
}

// noTurn is the gate of a database that has many writers.
type noTurn struct{}

func (noTurn) Enter(<-chan struct{}) error { return nil }
func (noTurn) Leave() (bool, error)        { return false, nil }
