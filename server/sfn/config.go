package sfn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// Defaults of a [Config].
const (
	DefaultAccount   = "000000000000"
	DefaultRegion    = "us-east-1"
	DefaultPartition = "aws"
)

// A Config sets what a [Server] serves, and where its resources are.
type Config struct {
	Store     storage.Store // required
	Account   string        // ID of the account in ARNs, 12 digits; "" means [DefaultAccount]
	Region    string        // "" means [DefaultRegion]
	Partition string        // "" means [DefaultPartition]

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
	// LogGroups are the names of the log groups that exist. A machine cannot log to others.
	LogGroups []string
	// Quotas replaces default values of quotas, see [Quotas].
	Quotas map[Quota]int64
	Now    func() time.Time // nil means [time.Now]
}

var (
	accountRule = regexp.MustCompile(`^[0-9]{12}$`)
	nameRule    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
)

// completed returns the config with its defaults, or an error that names what is wrong.
func (c Config) completed() (Config, error) {
	c.Account = cmp.Or(c.Account, DefaultAccount)
	c.Region = cmp.Or(c.Region, DefaultRegion)
	c.Partition = cmp.Or(c.Partition, DefaultPartition)
	if c.Now == nil {
		c.Now = time.Now
	}
	switch {
	case c.Store == nil:
		return c, errors.New("sfn: Config.Store is nil")
	case !accountRule.MatchString(c.Account):
		return c, fmt.Errorf("sfn: the account %q is not valid: an account ID has 12 digits", c.Account)
	case !nameRule.MatchString(c.Region):
		return c, fmt.Errorf("sfn: the region %q is not valid: want a name such as us-east-1", c.Region)
	case !nameRule.MatchString(c.Partition):
		return c, fmt.Errorf("sfn: the partition %q is not valid: want a name such as aws", c.Partition)
	}
	for name := range c.Quotas {
		if !slices.ContainsFunc(quotas, func(info QuotaInfo) bool { return info.Name == name }) {
			return c, fmt.Errorf("sfn: there is no quota %q", name)
		}
	}
	return c, nil
}
