package sfn

import (
	"slices"

	"github.com/ebbflow/ebb/server/aws"
)

// A Quota is the name of a limit that AWS sets and [Config.Quotas] can replace.
type Quota string

// The quotas.
const (
	QuotaMachines   Quota = "state-machines"
	QuotaActivities Quota = "activities"
	QuotaVersions   Quota = "versions"
	QuotaAliases    Quota = "aliases"
	QuotaTags       Quota = "tags"
)

// NoQuota is the value of a quota without limit.
const NoQuota int64 = -1

// A QuotaInfo describes a quota.
type QuotaInfo struct {
	Name    Quota
	Default int64  // the value at AWS
	Limits  string // what it limits, and its unit
}

// quotas are all quotas, in the order of the manual.
//
//nolint:mnd // the table is where the numbers have their names
var quotas = []QuotaInfo{
	{QuotaMachines, 100_000, "state machines"},
	{QuotaActivities, 100_000, "activities"},
	{QuotaVersions, 1000, "versions of a state machine"},
	{QuotaAliases, 100, "aliases of a state machine"},
	{QuotaTags, 50, "tags of a state machine or an activity"},
}

// Quotas returns all quotas with their defaults. A quota limits what is created from then on.
func Quotas() []QuotaInfo { return slices.Clone(quotas) }

// quota returns the value of a quota; false if it has no limit.
func (s *Server) quota(q Quota) (int64, bool) {
	value, ok := s.config.Quotas[q]
	if !ok {
		for _, info := range quotas {
			if info.Name == q {
				value = info.Default
			}
		}
	}
	return value, value >= 0
}

// within returns an error with a code if a count is beyond a quota.
func (s *Server) within(q Quota, count int, code string) error {
	if most, limited := s.quota(q); limited && int64(count) > most {
		return aws.Errorf(code, "The limit of %d %s has been reached.", most, describe(q))
	}
	return nil
}

// describe returns what a quota limits.
func describe(q Quota) string {
	for _, info := range quotas {
		if info.Name == q {
			return info.Limits
		}
	}
	return string(q)
}
