package atom

import (
	"context"
	"database/sql"

	"github.com/hashicorp/go-hclog"
)

// A Host serves an atom while it is called: the engine, or a fake in a test,
// given to [WithHost]. Atoms reach it through functions of this package, which
// specify its behavior. Any goroutine may call its methods.
type Host interface {
	// Progress reports how far the call has come, from 0 to 1. If details is nil, the previous details stay. See
	// [Progress].
	Progress(fraction float64, details Value)
	// Logger returns the logger of the call. See [Logger].
	Logger() hclog.Logger
	// Transact calls fn within a transaction, and keeps the result of fn. See [Tx].
	Transact(ctx context.Context, fn func(tx *sql.Tx) (Value, error)) (Value, error)
	// Elements returns the results of n nodes of a stored list, or fewer, from the node with index from on. See
	// [List].
	Elements(ctx context.Context, of *StoredList, from, n int) ([]Value, error)
	// Scope names the run's database, and when the run was created. See [Scope].
	Scope() string
}

// Scope returns a text that, together with the run's id, names the run among the
// runs of all databases that processes of this machine use. It is the same for
// every attempt and every owner of the run on this machine. Outside of an engine
// it is "".
func Scope(ctx context.Context) string {
	if host := hostOf(ctx); host != nil {
		return host.Scope()
	}
	return ""
}

// Logger returns the engine's logger. Each line has the run, path and attempt of the
// call, its incarnation unless it is the first, and "revert" in a revert. Each call of Logger
// creates a logger, so keep the result if you log often. Outside of an engine the
// logger discards everything.
func Logger(ctx context.Context) hclog.Logger {
	if host := hostOf(ctx); host != nil {
		return host.Logger()
	}
	return hclog.NewNullLogger()
}
