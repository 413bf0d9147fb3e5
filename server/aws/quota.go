package aws

import (
	"fmt"
)

// A Quota is the name of a limit that AWS sets and a setting can replace.
type Quota string

// NoQuota is the value of a quota without limit.
const NoQuota int64 = -1

// A QuotaInfo describes a quota.
type QuotaInfo struct {
	Name    Quota
	Default int64  // the value at AWS, or [NoQuota]
	Limits  string // what it limits, and its unit
}

// Quotas are the quotas of a service with their present values.
type Quotas struct {
	infos  map[Quota]QuotaInfo
	values map[Quota]int64
}

// NewQuotas returns the quotas of a table, with other values for some of them. If the table does not have a quota, it
// returns an error.
func NewQuotas(table []QuotaInfo, values map[Quota]int64) (Quotas, error) {
	q := Quotas{infos: map[Quota]QuotaInfo{}, values: values}
	for _, info := range table {
		q.infos[info.Name] = info
	}
	for name := range values {
		if _, known := q.infos[name]; !known {
			return q, fmt.Errorf("there is no quota %q", name)
		}
	}
	return q, nil
}

// Value returns the value of a quota; false if it has no limit.
func (q Quotas) Value(name Quota) (int64, bool) {
	value, replaced := q.values[name]
	if !replaced {
		value = q.infos[name].Default
	}
	return value, value >= 0
}

// Within returns an error with a code if a count is beyond a quota.
func (q Quotas) Within(name Quota, count int64, code string) error {
	if most, limited := q.Value(name); limited && count > most {
		return Errorf(code, "The limit of %d %s has been reached.", most, q.infos[name].Limits)
	}
	return nil
}
