#!/usr/bin/env bash
# Starts, works, waits, describes, pages, stops and redrives with the AWS CLI: the alias is $1, its machine is $2.
set -euo pipefail

sfn() { aws --endpoint-url "$ENDPOINT" --output text stepfunctions "$@"; }

ended() { # waits until the execution $1 has ended, and prints its status
	local status=RUNNING
	while [[ $status == RUNNING ]]; do
		status=$(sfn describe-execution --execution-arn "$1" --query status)
	done
	echo "$status"
}

activity=$(sfn list-activities --query "activities[?name=='cli-review'].activityArn")
one=$(sfn start-execution --state-machine-arn "$1" --name one --input '{}' --query executionArn)
token=$(sfn get-activity-task --activity-arn "$activity" --worker-name cli --query taskToken)
sfn send-task-failure --task-token "$token" --error Rejected --cause 'too dear'
[[ $(ended "$one") == FAILED ]]
sfn redrive-execution --execution-arn "$one" >/dev/null
token=$(sfn get-activity-task --activity-arn "$activity" --worker-name cli --query taskToken)
sfn send-task-heartbeat --task-token "$token"
sfn send-task-success --task-token "$token" --task-output '"fine"'
[[ $(ended "$one") == SUCCEEDED ]]
[[ $(sfn describe-execution --execution-arn "$one" --query redriveCount) == 1 ]]
[[ $(sfn get-execution-history --execution-arn "$one" --page-size 2 --query 'events[].type') == *ExecutionRedriven* ]]
two=$(sfn start-execution --state-machine-arn "$2" --name two --query executionArn)
sfn stop-execution --execution-arn "$two" --error Enough >/dev/null
[[ $(ended "$two") == ABORTED ]]
[[ $(sfn list-executions --state-machine-arn "$2" --query 'length(executions)') == 2 ]]
