package sfn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// A Config sets what a [Server] serves, and where its resources are.
type Config struct {
	Store   storage.Store // required
	Account aws.Account   // whose resources they are
	// AnyAccount says that clients may choose another account or region, see [aws.Options.AnyAccount].
	AnyAccount bool

	// Start starts a run of a stored definition, and returns when its first commit is durable. It is usually
	// [conductor.Conductor.Start]. Nil means that the server starts no executions.
	Start func(ctx context.Context, run, definition string, opts ...engine.RunOption) error
	// Stopping is closed when the process stops: workers that wait for tasks then get an empty answer. It may be nil.
	Stopping <-chan struct{}

	// Named reports whether the operator's settings name a resource that is not an ARN. Definitions of clients may
	// then use it. Nil means that no such resource is named.
	Named func(resource string) bool
	// Call does the work of a Task state without a mock in TestState. Nil means that such a state cannot be tested.
	Call func(ctx context.Context, resource string, input atom.Value) (atom.Value, *atom.Failure)
	// Mocked returns an error if there is no test case of mocks with a name for a machine. Nil means that there are none.
	Mocked func(machine, testCase string) error
	// LogGroups are the log groups that exist, by name. A machine cannot log to others. [Server.Log] writes lines of
	// JSON into them, whole lines in each call; it writes nothing into one that is nil.
	LogGroups map[string]io.Writer
	// Quotas replaces default values of quotas, see [Quotas].
	Quotas map[aws.Quota]int64
	Now    func() time.Time // nil means [time.Now]
}

// completed returns the config with its defaults, or an error that names what is wrong.
func (c Config) completed() (Config, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Store == nil {
		return c, errors.New("sfn: Config.Store is nil")
	}
	var err error
	if c.Account, err = c.Account.Completed(); err != nil {
		return c, fmt.Errorf("sfn: %w", err)
	}
	return c, nil
}
