#!/usr/bin/env bash
# Does the work of an operator, a decider and a worker of Amazon SWF with the AWS CLI, against the server at ENDPOINT.
set -euo pipefail

swf() { aws --endpoint-url "$ENDPOINT" --output text swf "$@"; }

refused() { # FAULT COMMAND…: the command fails with a fault
	local fault=$1 told
	shift
	if told=$(swf "$@" 2>&1) || [[ $told != *"($fault)"* ]]; then
		echo "$*: want $fault, got $told"
		exit 1
	fi
}

same() { # GOT WANT
	if [[ $1 != "$2" ]]; then
		echo "want $2, got $1"
		exit 1
	fi
}

decide() { # DECISIONS: takes the next decision task, and answers it
	local token
	token=$(swf poll-for-decision-task --domain cli --task-list name=orders --query taskToken)
	swf respond-decision-task-completed --task-token "$token" --execution-context open --decisions "$1"
}

take() { # takes the next activity task, and prints its token
	swf poll-for-activity-task --domain cli --task-list name=charges --query taskToken
}

# An operator registers a domain and types.
swf register-domain --name cli --workflow-execution-retention-period-in-days 1 --tags key=team,value=shop
arn=$(swf describe-domain --name cli --query domainInfo.arn)
same "$(swf list-tags-for-resource --resource-arn "$arn" --query 'tags[].value')" shop
swf register-workflow-type --domain cli --name order --workflow-version 1 --default-task-list name=orders \
	--default-task-start-to-close-timeout 60 --default-execution-start-to-close-timeout 600 \
	--default-child-policy TERMINATE
for name in charge wrong; do
	swf register-activity-type --domain cli --name $name --activity-version 1 --default-task-list name=charges \
		--default-task-schedule-to-start-timeout 300 --default-task-start-to-close-timeout 60 \
		--default-task-schedule-to-close-timeout 600 --default-task-heartbeat-timeout NONE
done
swf deprecate-activity-type --domain cli --activity-type name=wrong,version=1
swf delete-activity-type --domain cli --activity-type name=wrong,version=1
refused UnknownResourceFault describe-activity-type --domain cli --activity-type name=wrong,version=1
same "$(swf list-activity-types --domain cli --registration-status REGISTERED --query 'typeInfos[].activityType.name')" charge

# An execution starts. Its decider schedules an activity and a timer, and later cancels the activity.
activity='{"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes":
	{"activityId": "charge", "activityType": {"name": "charge", "version": "1"}, "input": "99"}}'
run=$(swf start-workflow-execution --domain cli --workflow-id one --workflow-type name=order,version=1 --tag-list gift \
	--query runId)
refused WorkflowExecutionAlreadyStartedFault start-workflow-execution --domain cli --workflow-id one \
	--workflow-type name=order,version=1
same "$(swf count-pending-decision-tasks --domain cli --task-list name=orders --query count)" 1
decide "[$activity, "'{"decisionType": "StartTimer", "startTimerDecisionAttributes":
	{"timerId": "late", "startToFireTimeout": "300"}}]'
task=$(take)
same "$(swf record-activity-task-heartbeat --task-token "$task" --details half --query cancelRequested)" False
swf signal-workflow-execution --domain cli --workflow-id one --signal-name hurry --input now
decide '[{"decisionType": "RequestCancelActivityTask", "requestCancelActivityTaskDecisionAttributes":
	{"activityId": "charge"}}]'
same "$(swf record-activity-task-heartbeat --task-token "$task" --query cancelRequested)" True
swf respond-activity-task-failed --task-token "$task" --reason declined
refused UnknownResourceFault respond-activity-task-completed --task-token "$task"
decide "[$activity]"
swf respond-activity-task-completed --task-token "$(take)" --result 'receipt 17'
same "$(swf describe-workflow-execution --domain cli --execution "workflowId=one,runId=$run" \
	--query '[openCounts.openTimers, latestExecutionContext]')" $'1\topen'
swf terminate-workflow-execution --domain cli --workflow-id one --reason enough
refused UnknownResourceFault signal-workflow-execution --domain cli --workflow-id one --signal-name late

# What is left of it, in pages.
same "$(swf list-closed-workflow-executions --domain cli --close-time-filter oldestDate=1 --tag-filter tag=gift \
	--query 'executionInfos[].closeStatus')" TERMINATED
last=$(swf get-workflow-execution-history --domain cli --execution "workflowId=one,runId=$run" --page-size 10 \
	--query 'events[].eventType' | tr '\t' '\n' | grep . | tail -1)
same "$last" WorkflowExecutionTerminated
