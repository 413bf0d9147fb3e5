// Does what a program does with the SDK for JavaScript, against the server at ENDPOINT. It exits with 0 if all is as
// expected.
import assert from "node:assert/strict";
import {
  SFNClient, CreateActivityCommand, CreateStateMachineCommand, DescribeExecutionCommand, GetActivityTaskCommand,
  GetExecutionHistoryCommand, ListExecutionsCommand, PublishStateMachineVersionCommand, RedriveExecutionCommand,
  SendTaskFailureCommand, SendTaskHeartbeatCommand, SendTaskSuccessCommand, StartExecutionCommand,
  StopExecutionCommand, TestStateCommand,
} from "@aws-sdk/client-sfn";

const client = new SFNClient({
  region: process.env.AWS_REGION,
  endpoint: process.env.ENDPOINT,
  disableHostPrefix: true, // names such as sync-127.0.0.1 do not resolve
});
const send = (Command, input) => client.send(new Command(input));

async function ended(executionArn) {
  for (;;) {
    const execution = await send(DescribeExecutionCommand, { executionArn });
    if (execution.status !== "RUNNING") return execution;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function take(activityArn) {
  for (;;) {
    const task = await send(GetActivityTaskCommand, { activityArn, workerName: "node" });
    if (task.taskToken) return task;
  }
}

const { activityArn } = await send(CreateActivityCommand, { name: "node-review" });
const definition = JSON.stringify({
  StartAt: "Review",
  States: { Review: { Type: "Task", Resource: activityArn, End: true } },
});
const create = { name: "node-orders", roleArn: "arn:aws:iam::123456789012:role/ebb", definition };
const { stateMachineArn } = await send(CreateStateMachineCommand, create);
assert.equal((await send(CreateStateMachineCommand, create)).stateMachineArn, stateMachineArn);
const { stateMachineVersionArn } = await send(PublishStateMachineVersionCommand, { stateMachineArn });

// An execution of a version succeeds.
const done = await send(StartExecutionCommand, { stateMachineArn: stateMachineVersionArn, input: '{"n": 1}' });
let task = await take(activityArn);
assert.deepEqual(JSON.parse(task.input), { n: 1 });
await send(SendTaskHeartbeatCommand, { taskToken: task.taskToken });
await send(SendTaskSuccessCommand, { taskToken: task.taskToken, output: '{"ok": true}' });
const execution = await ended(done.executionArn);
assert.equal(execution.status, "SUCCEEDED");
assert.deepEqual(JSON.parse(execution.output), { ok: true });
assert.equal(execution.stateMachineVersionArn, stateMachineVersionArn);

// Its history comes in pages.
const events = [];
for (let nextToken; ; ) {
  const page = await send(GetExecutionHistoryCommand, { executionArn: done.executionArn, maxResults: 2, nextToken });
  events.push(...page.events);
  if (!(nextToken = page.nextToken)) break;
}
assert.deepEqual(events.map((event) => event.id), events.map((_, i) => i + 1));
assert.equal(events.at(-1).type, "ExecutionSucceeded");

// Another fails, and is redriven.
const failed = await send(StartExecutionCommand, { stateMachineArn, input: "{}" });
task = await take(activityArn);
await send(SendTaskFailureCommand, { taskToken: task.taskToken, error: "Rejected", cause: "too dear" });
assert.equal((await ended(failed.executionArn)).error, "Rejected");
await send(RedriveExecutionCommand, { executionArn: failed.executionArn });
task = await take(activityArn);
await send(SendTaskSuccessCommand, { taskToken: task.taskToken, output: "1" });
const redriven = await ended(failed.executionArn);
assert.equal(redriven.status, "SUCCEEDED");
assert.equal(redriven.redriveCount, 1);

// Another is stopped.
const stopped = await send(StartExecutionCommand, { stateMachineArn });
await send(StopExecutionCommand, { executionArn: stopped.executionArn, error: "Enough" });
assert.equal((await ended(stopped.executionArn)).status, "ABORTED");
const { executions } = await send(ListExecutionsCommand, { stateMachineArn });
assert.equal(executions.length, 3);

// Errors have their types.
await assert.rejects(
  send(DescribeExecutionCommand, { executionArn: stopped.executionArn + "x" }),
  (error) => error.name === "ExecutionDoesNotExist" && error.$metadata.httpStatusCode === 400,
);
const tested = await send(TestStateCommand, {
  definition: '{"Type": "Pass", "Result": {"n": 2}, "End": true}', input: "{}",
});
assert.equal(tested.status, "SUCCEEDED");
