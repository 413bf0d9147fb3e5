// Package postgres reads the DSN of a PostgreSQL database and connects to it.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	// ConnectTimeout bounds one attempt to connect.
	ConnectTimeout = 10 * time.Second
	// DefaultLease is how long an owner counts as alive after it last renewed its lease.
	DefaultLease = 10 * time.Second

	// These settings of TCP keepalive detect a connection that was cut without notice. They say after which silence
	// the kernel probes the other side, how often, and how many times. Without them, a process could wait for ever.
	probeAfter = 10 * time.Second
	probeEvery = 5 * time.Second
	probes     = 3

	// IdleTimeout is the PostgreSQL setting that bounds how long a transaction may be idle.
	IdleTimeout = "idle_in_transaction_session_timeout"

	defaultSchema = "ebb"
	minIdle       = 5 * time.Second
	minLease      = 100 * time.Millisecond
)

// A Server describes how to connect to a PostgreSQL database.
type Server struct {
	Config    *pgx.ConnConfig
	Place     string // name for messages, without user and password
	Schema    string // schema that contains Ebb's tables
	Lease     time.Duration
	UsersPath string // search path of users' own statements
	UsersIdle string // how long users' transactions may be idle; "" means as long as all others
	DB        *sqlx.DB
}

// IsDSN reports whether a DSN names a database on a server.
func IsDSN(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// Parse parses a DSN: a URL as PostgreSQL's own programs accept it, with two more parameters, schema and lease.
// Missing parts come from the environment (PGHOST, PGUSER, PGPASSWORD …) and from ~/.pgpass.
func Parse(dsn string) (*Server, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("sqlstore: the DSN is not a URL: give postgres://USER:PASSWORD@HOST:PORT/DATABASE, with " +
			"special characters escaped")
	}
	s := &Server{Schema: defaultSchema, Lease: DefaultLease}
	q := u.Query()
	if name := q.Get("schema"); name != "" {
		s.Schema = name
		q.Del("schema")
	}
	if text := q.Get("lease"); text != "" {
		if s.Lease, err = time.ParseDuration(text); err != nil || s.Lease < minLease {
			return nil, fmt.Errorf("sqlstore: lease=%s in the DSN: want a duration of %v or more, such as 10s", text, minLease)
		}
		q.Del("lease")
	}
	if len(q) < len(u.Query()) {
		u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // the driver does not read + as a space
	}
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // the error itself contains the DSN
			return nil, fmt.Errorf("sqlstore: %s: %w", withoutPassword(u), cause)
		}
		return nil, fmt.Errorf("sqlstore: %s: the DSN is not valid: check host, port and parameters", withoutPassword(u))
	}
	s.Config = config
	host := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	if strings.HasPrefix(config.Host, "/") {
		host = config.Host
	}
	s.Place = "postgres://" + host + "/" + config.Database
	if s.Schema != defaultSchema {
		s.Place += "?schema=" + s.Schema
	}
	if config.ConnectTimeout == 0 || q.Get("connect_timeout") == "" {
		config.ConnectTimeout = ConnectTimeout
	}
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: probeAfter, Interval: probeEvery,
		Count: probes,
	}}
	config.DialFunc = dialer.DialContext
	set := func(name, value string) {
		if config.RuntimeParams[name] == "" {
			config.RuntimeParams[name] = value
		}
	}
	s.UsersPath = config.RuntimeParams["search_path"]
	if s.UsersPath == "" {
		s.UsersPath = `"$user", public`
	}
	config.RuntimeParams["search_path"] = pgx.Identifier{s.Schema}.Sanitize()
	config.RuntimeParams["timezone"] = "UTC"
	set("application_name", "ebb")
	set("statement_timeout", millis(30*time.Second))
	set("lock_timeout", millis(15*time.Second))
	config.AfterConnect = planBy(config.RuntimeParams)
	return s, nil
}

// planning lists the planner settings of Ebb's statements. Plans stay good when the server makes them before it has
// counted the rows of a table: every query of Ebb has an index by which it reads few rows in their order. While a table
// has few rows, a scan would look as cheap. For the same reason, one plan fits all arguments, and each statement is
// planned only once per connection.
var planning = []struct{ name, value string }{
	{"enable_seqscan", "off"},
	{"enable_bitmapscan", "off"},
	{"enable_hashjoin", "off"},
	{"enable_mergejoin", "off"},
	{"enable_sort", "off"},
	{"jit", "off"},
	{"plan_cache_mode", "force_generic_plan"},
}

// planBy returns a function that makes the settings in planning on a new connection, except settings that the DSN or
// PGOPTIONS names. They are not parameters of the connection, so that users' own statements can use the
// server's settings, see UsersPlanning.
func planBy(given map[string]string) func(context.Context, *pgconn.PgConn) error {
	var all strings.Builder
	for _, setting := range planning {
		if given[setting.name] == "" && !strings.Contains(given["options"], setting.name) {
			all.WriteString("SET " + setting.name + " = " + setting.value + ";")
		}
	}
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		return conn.Exec(ctx, all.String()).Close()
	}
}

// BoundIdle bounds how long the server keeps the locks of a process that was cut off or stopped in the middle of a
// transaction: not much longer than the process counts as alive. Users' transactions have a bound of their own.
func (s *Server) BoundIdle(lease time.Duration) {
	if s.Config.RuntimeParams[IdleTimeout] == "" {
		s.Config.RuntimeParams[IdleTimeout] = millis(max(lease, minIdle))
		s.UsersIdle = millis(time.Minute)
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// withoutPassword returns the DSN without its password, for messages.
func withoutPassword(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Open prepares connections. It does nothing before the first connection. It calls connected for each new
// connection.
func (s *Server) Open(maxConnections int, connected func(context.Context, *pgx.Conn) error) {
	s.DB = sqlx.NewDb(sql.OpenDB(connector{stdlib.GetConnector(*s.Config, stdlib.OptionAfterConnect(connected))}), "pgx")
	s.DB.SetMaxOpenConns(maxConnections)
	s.DB.SetMaxIdleConns(maxConnections)
}

// Channel returns the name of the channel on which processes that use the same tables notify each other.
func (s *Server) Channel() string { return "ebb:" + s.Schema }

// UsersPlanning restores the server's settings in place of those in planning, for the rest of a transaction.
var UsersPlanning = func() string {
	var all strings.Builder
	for _, setting := range planning {
		all.WriteString("SET LOCAL " + setting.name + " TO DEFAULT;")
	}
	return all.String()
}()
