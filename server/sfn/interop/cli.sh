#!/usr/bin/env bash
# Does what scripts for infrastructure do with the AWS CLI, against the server at ENDPOINT. Each call names what it wants,
# so that the script can run again and changes nothing then. It prints the ARN of the machine and of its alias.
set -euo pipefail

sfn() { aws --endpoint-url "$ENDPOINT" --output text stepfunctions "$@"; }

activity=$(sfn create-activity --name cli-review --query activityArn)
definition='{"StartAt": "Greet", "States": {"Greet": {"Type": "Pass", "Result": "hello", "Next": "Review"},
  "Review": {"Type": "Task", "Resource": "'$activity'", "End": true}}}'
machine=$(sfn create-state-machine --name cli-orders --role-arn arn:aws:iam::123456789012:role/ebb \
	--definition "$definition" --query stateMachineArn)
version=$(sfn publish-state-machine-version --state-machine-arn "$machine" --query stateMachineVersionArn)
alias=$(sfn list-state-machine-aliases --state-machine-arn "$machine" \
	--query 'stateMachineAliases[0].stateMachineAliasArn')
if [[ $alias == None ]]; then
	alias=$(sfn create-state-machine-alias --name live \
		--routing-configuration "stateMachineVersionArn=$version,weight=100" --query stateMachineAliasArn)
else
	sfn update-state-machine-alias --state-machine-alias-arn "$alias" \
		--routing-configuration "stateMachineVersionArn=$version,weight=100" >/dev/null
fi
sfn tag-resource --resource-arn "$machine" --tags key=team,value=shop
[[ $(sfn list-tags-for-resource --resource-arn "$machine" --query 'tags[0].value') == shop ]]
[[ $(sfn list-state-machine-versions --state-machine-arn "$machine" --query 'length(stateMachineVersions)') == 1 ]]
echo "$machine $alias $version"
