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
	// Progress is told how far the call is, from 0 to 1; nil details leave those
	// that were given before. See [Progress].
	Progress(fraction float64, details Value)
	// Logger returns the logger of the call. See [Logger].
	Logger() hclog.Logger
	// Transact calls fn within a transaction, and keeps the result of fn. See [Tx].
	Transact(ctx context.Context, fn func(tx *sql.Tx) (Value, error)) (Value, error)
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

// Logger returns the engine's logger, named for the atom, with the run, path,
// incarnation and attempt of the call in every line, and whether it reverts. It
// is made when it is asked for; keep it if you need it often. Outside of an
// engine it logs nothing.
func Logger(ctx context.Context) hclog.Logger {
	if host := hostOf(ctx); host != nil {
		return host.Logger()
	}
	return hclog.NewNullLogger()
}
