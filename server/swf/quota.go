package swf

import (
	"slices"

	"github.com/ebbflow/ebb/server/aws"
)

// The quotas. Their names begin with "swf-", so that they differ from those of other services.
const (
	QuotaDomains        aws.Quota = "swf-domains"
	QuotaWorkflowTypes  aws.Quota = "swf-workflow-types"
	QuotaActivityTypes  aws.Quota = "swf-activity-types"
	QuotaOpenExecutions aws.Quota = "swf-open-executions"
	QuotaEvents         aws.Quota = "swf-events"
	QuotaOpenActivities aws.Quota = "swf-open-activities"
	QuotaOpenTimers     aws.Quota = "swf-open-timers"
	QuotaOpenChildren   aws.Quota = "swf-open-children"
	QuotaOpenLambdas    aws.Quota = "swf-open-lambdas"
	QuotaPollers        aws.Quota = "swf-pollers"
	QuotaDomainTags     aws.Quota = "swf-domain-tags"
	QuotaRetention      aws.Quota = "swf-retention-days"
)

// quotas are all quotas, in the order of the manual.
//
//nolint:mnd // the table is where the numbers have their names
var quotas = []aws.QuotaInfo{
	{Name: QuotaDomains, Default: 100, Limits: "domains, with deprecated ones"},
	{Name: QuotaWorkflowTypes, Default: 10_000, Limits: "workflow types of a domain"},
	{Name: QuotaActivityTypes, Default: 10_000, Limits: "activity types of a domain"},
	{Name: QuotaOpenExecutions, Default: 100_000, Limits: "open executions of a domain"},
	{Name: QuotaEvents, Default: 25_000, Limits: "events of an execution"},
	{Name: QuotaOpenActivities, Default: 1000, Limits: "open activity tasks of an execution"},
	{Name: QuotaOpenTimers, Default: 1000, Limits: "open timers of an execution"},
	{Name: QuotaOpenChildren, Default: 1000, Limits: "open children of an execution"},
	{Name: QuotaOpenLambdas, Default: 1000, Limits: "open lambda functions of an execution"},
	{Name: QuotaPollers, Default: 1000, Limits: "pollers of a task list at this server"},
	{Name: QuotaDomainTags, Default: 50, Limits: "tags of a domain"},
	{Name: QuotaRequests, Default: aws.NoQuota, Limits: "requests of a domain in a second at this server"},
	{Name: QuotaRetention, Default: 90, Limits: "days of retention"},
}

// Quotas returns all quotas with their defaults.
func Quotas() []aws.QuotaInfo { return slices.Clone(quotas) }
