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
	//limit:swf domains, with deprecated ones (`swf-domains`) | {swf-domains}* | `LimitExceededFault`
	{Name: QuotaDomains, Default: 100, Limits: "domains, with deprecated ones"},
	//limit:swf workflow types of a domain (`swf-workflow-types`) | {swf-workflow-types}* | `LimitExceededFault`
	{Name: QuotaWorkflowTypes, Default: 10_000, Limits: "workflow types of a domain"},
	//limit:swf activity types of a domain (`swf-activity-types`) | {swf-activity-types}* | `LimitExceededFault`
	{Name: QuotaActivityTypes, Default: 10_000, Limits: "activity types of a domain"},
	//limit:swf open executions of a domain (`swf-open-executions`) | {swf-open-executions}* | `LimitExceededFault`;
	//limit:and OPEN_WORKFLOWS_LIMIT_EXCEEDED
	{Name: QuotaOpenExecutions, Default: 100_000, Limits: "open executions of a domain"},
	//limit:swf events of an execution (`swf-events`) | {swf-events}* | WorkflowExecutionTerminated with
	//limit:and EVENT_LIMIT_EXCEEDED
	{Name: QuotaEvents, Default: 25_000, Limits: "events of an execution"},
	//limit:swf open activity tasks of an execution (`swf-open-activities`) | {swf-open-activities}* | the decision
	//limit:and fails
	{Name: QuotaOpenActivities, Default: 1000, Limits: "open activity tasks of an execution"},
	//limit:swf open timers (`swf-open-timers`) | {swf-open-timers}* | the decision fails
	{Name: QuotaOpenTimers, Default: 1000, Limits: "open timers of an execution"},
	//limit:swf open children (`swf-open-children`) | {swf-open-children}* | the decision fails
	{Name: QuotaOpenChildren, Default: 1000, Limits: "open children of an execution"},
	//limit:swf open lambda functions (`swf-open-lambdas`) | {swf-open-lambdas}* | the decision fails
	{Name: QuotaOpenLambdas, Default: 1000, Limits: "open lambda functions of an execution"},
	//limit:swf pollers of a task list at one server (`swf-pollers`) | {swf-pollers}* | `LimitExceededFault`
	{Name: QuotaPollers, Default: 1000, Limits: "pollers of a task list at this server"},
	//limit:swf tags of a domain (`swf-domain-tags`) | {swf-domain-tags}* | `TooManyTagsFault`
	{Name: QuotaDomainTags, Default: 50, Limits: "tags of a domain"},
	//limit:swf requests about a domain, in a second at one server (`swf-requests-per-second`) | none* |
	//limit:and `ThrottlingException`
	{Name: QuotaRequests, Default: aws.NoQuota, Limits: "requests of a domain in a second at this server"},
	//limit:swf retention period (`swf-retention-days`) | {swf-retention-days} days* | `ValidationException`
	{Name: QuotaRetention, Default: 90, Limits: "days of retention"},
}

// Quotas returns all quotas with their defaults.
func Quotas() []aws.QuotaInfo { return slices.Clone(quotas) }
