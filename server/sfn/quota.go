package sfn

import (
	"slices"

	"github.com/ebbflow/ebb/server/aws"
)

// The quotas of the server, by the names that "ebb serve --aws-quota" gives them.
const (
	QuotaMachines   aws.Quota = "state-machines"
	QuotaActivities aws.Quota = "activities"
	QuotaVersions   aws.Quota = "versions"
	QuotaAliases    aws.Quota = "aliases"
	QuotaTags       aws.Quota = "tags"
	QuotaPollers    aws.Quota = "pollers"
)

// quotas are all quotas, in the order of the manual.
//
//nolint:mnd // the table is where the numbers have their names
var quotas = []aws.QuotaInfo{
	//limit:sfn state machines (`state-machines`) | {state-machines}* | `StateMachineLimitExceeded`
	{Name: QuotaMachines, Default: 100_000, Limits: "state machines"},
	//limit:sfn activities (`activities`) | {activities}* | `ActivityLimitExceeded`
	{Name: QuotaActivities, Default: 100_000, Limits: "activities"},
	//limit:sfn versions of a state machine (`versions`) | {versions}* | `ServiceQuotaExceededException`
	{Name: QuotaVersions, Default: 1000, Limits: "versions of a state machine"},
	//limit:sfn aliases of a state machine (`aliases`) | {aliases}* | `ServiceQuotaExceededException`
	{Name: QuotaAliases, Default: 100, Limits: "aliases of a state machine"},
	//limit:sfn tags of a state machine or an activity (`tags`) | {tags}* | `TooManyTags`
	{Name: QuotaTags, Default: 50, Limits: "tags of a state machine or an activity"},
	//limit:sfn workers that wait for tasks of an activity at a server (`pollers`) | {pollers}* |
	//limit:and `ActivityWorkerLimitExceeded`
	{Name: QuotaPollers, Default: 1000, Limits: "workers that wait for tasks of an activity at a server"},
}

// Quotas returns all quotas with their defaults. A quota limits what is created from then on.
func Quotas() []aws.QuotaInfo { return slices.Clone(quotas) }
