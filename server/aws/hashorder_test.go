package aws

import (
	"slices"
	"strings"
	"testing"
)

// TestOrderIsRecorded: values and members have the order that AWS's errors have. Values that share a bucket are in the
// order of the model here, that is "ABORTED PENDING_REDRIVE" and "LT BETWEEN".
func TestOrderIsRecorded(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"RUNNING SUCCEEDED FAILED TIMED_OUT ABORTED PENDING_REDRIVE": "SUCCEEDED TIMED_OUT PENDING_REDRIVE ABORTED FAILED RUNNING",
		"EQ NE IN LE LT GE GT BETWEEN NOT_NULL NULL CONTAINS NOT_CONTAINS BEGINS_WITH": "IN NULL BETWEEN LT NOT_CONTAINS EQ GT " +
			"NOT_NULL NE LE BEGINS_WITH GE CONTAINS",
		"NONE ALL_OLD UPDATED_OLD ALL_NEW UPDATED_NEW":                       "ALL_NEW UPDATED_OLD ALL_OLD NONE UPDATED_NEW",
		"INDEXES TOTAL NONE":                                                 "INDEXES TOTAL NONE",
		"Software Hardware AZ Region":                                        "Software Hardware Region AZ",
		"String StringList SecureString":                                     "SecureString StringList String",
		"RUNNING FAILED SUCCEEDED STOPPED TIMED_OUT PAUSED PAUSING DELETING": "SUCCEEDED TIMED_OUT DELETING STOPPED PAUSED PAUSING FAILED RUNNING",
		"x86_64 arm64": "x86_64 arm64",
	} {
		if got := strings.Join(orderValues(strings.Fields(model)), " "); got != want {
			t.Errorf("the values are in the order %s, want %s", got, want)
		}
	}
	for _, want := range []string{
		"execution domain", "runId workflowId", "groupName username", "password username", "confirmationCode password",
		"writeCapacityUnits readCapacityUnits", "attributeType attributeName", "indexName keySchema",
		"limit exclusiveStartTableName", "nextToken maxResults", "aWSAccountId label actionName", "agentId agentAliasId",
		"subjectAlternativeNames domainName", "retentionDays description", "retentionDays eventPattern", "value key",
	} {
		var members []Member
		for name := range strings.FieldsSeq(want) {
			members = append(members, Optional(name, Boolean()))
		}
		slices.Reverse(members)
		var got []string
		for _, m := range orderMembers(members) {
			got = append(got, m.name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the members are in the order %v, want %s", got, want)
		}
	}
}
