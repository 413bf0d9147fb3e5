package aws

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
)

// Defaults of an [Account].
const (
	DefaultAccount   = "000000000000"
	DefaultRegion    = "us-east-1"
	DefaultPartition = "aws"
)

// An Account says whose resources a server serves, and where: each ARN of a resource names it.
type Account struct {
	ID        string // 12 digits; "" means [DefaultAccount]
	Region    string // "" means [DefaultRegion]
	Partition string // "" means [DefaultPartition]
}

var (
	accountRule = regexp.MustCompile(`^[0-9]{12}$`)
	nameRule    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
)

// Completed returns the account with its defaults, or an error that names what is not valid.
func (a Account) Completed() (Account, error) {
	a.ID = cmp.Or(a.ID, DefaultAccount)
	a.Region = cmp.Or(a.Region, DefaultRegion)
	a.Partition = cmp.Or(a.Partition, DefaultPartition)
	switch {
	case !accountRule.MatchString(a.ID):
		return a, fmt.Errorf("the account %q is not valid: an account ID has 12 digits", a.ID)
	case !nameRule.MatchString(a.Region):
		return a, fmt.Errorf("the region %q is not valid: want a name such as us-east-1", a.Region)
	case !nameRule.MatchString(a.Partition):
		return a, fmt.Errorf("the partition %q is not valid: want a name such as aws", a.Partition)
	}
	return a, nil
}

// Of returns the account that a request is for: the account and the region that the caller has chosen, else those of a.
func (a Account) Of(c *Caller) Account { return a.in(c.Account, c.Region) }

type accountKey struct{}

// InAccount returns a context in which a request of this process is for an account and a region, whatever it is signed
// with. A handler that verifies signatures ignores it.
func InAccount(ctx context.Context, a Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// in returns another account or region; "" means that of a. The regions of China and of the US government have
// partitions of their own.
func (a Account) in(id, region string) Account {
	own := Account{cmp.Or(id, a.ID), cmp.Or(region, a.Region), a.Partition}
	switch {
	case own.Region == a.Region:
	case strings.HasPrefix(own.Region, "cn-"):
		own.Partition = "aws-cn"
	case strings.HasPrefix(own.Region, "us-gov-"):
		own.Partition = "aws-us-gov"
	}
	return own
}

// Key returns the name under which a database has a resource of another account. The resources of a itself have their
// own names there.
func (a Account) Key(other Account, name string) string {
	if other == a {
		return name
	}
	return other.ID + "/" + other.Region + "/" + name
}

// Named returns the account and the name of the resource with a key.
func (a Account) Named(key string) (other Account, name string) {
	const parts = 3
	part := strings.SplitN(key, "/", parts)
	if len(part) < parts || !accountRule.MatchString(part[0]) || !nameRule.MatchString(part[1]) {
		return a, key
	}
	return a.in(part[0], part[1]), part[2]
}

// ARN returns the ARN of a resource of a service, such as "arn:aws:states:us-east-1:000000000000:activity:pack".
func (a Account) ARN(service string, rest ...string) string {
	return strings.Join(append([]string{"arn", a.Partition, service, a.Region, a.ID}, rest...), ":")
}
