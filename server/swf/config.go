package swf

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// A Config sets what a [Server] serves, and where its domains are.
type Config struct {
	Store   storage.Store // required
	Account aws.Account   // whose domains they are

	// Stopping is closed when the process stops: pollers that wait for tasks then get an empty answer. It may be nil.
	Stopping <-chan struct{}
	// Quotas replaces default values of quotas, see [Quotas].
	Quotas map[aws.Quota]int64
	// Undo says which activities undo which, if an execution fails, is terminated or times out.
	Undo []swf.UndoType
	// Authorizer decides what clients may do. Nil permits everything.
	Authorizer Authorizer
	Log        hclog.Logger     // nil means no log
	Now        func() time.Time // nil means [time.Now]
}

// completed returns the config with its defaults, or an error that names what is wrong.
func (c Config) completed() (Config, error) {
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	c.Log = c.Log.Named("swf")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Store == nil {
		return c, errors.New("swf: Config.Store is nil")
	}
	var err error
	if c.Account, err = c.Account.Completed(); err != nil {
		return c, fmt.Errorf("swf: %w", err)
	}
	return c, nil
}
