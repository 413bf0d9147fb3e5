// Does what a decider and an activity worker do with the SDK for JavaScript, against the server at ENDPOINT. It exits
// with 0 if all is as expected.
import assert from "node:assert/strict";
import {
  SWFClient, DescribeWorkflowExecutionCommand, GetWorkflowExecutionHistoryCommand, ListClosedWorkflowExecutionsCommand,
  PollForActivityTaskCommand, PollForDecisionTaskCommand, RecordActivityTaskHeartbeatCommand,
  RegisterActivityTypeCommand, RegisterDomainCommand, RegisterWorkflowTypeCommand,
  RespondActivityTaskCompletedCommand, RespondActivityTaskFailedCommand, RespondDecisionTaskCompletedCommand,
  SignalWorkflowExecutionCommand, StartWorkflowExecutionCommand,
} from "@aws-sdk/client-swf";

const client = new SWFClient({ region: process.env.AWS_REGION, endpoint: process.env.ENDPOINT });
const send = (Command, input) => client.send(new Command({ domain: "node", ...input }));
const answer = (Command, input) => client.send(new Command(input)); // operations that take a token, and no domain
const list = (name) => ({ name });

await answer(RegisterDomainCommand, { name: "node", workflowExecutionRetentionPeriodInDays: "1" });
for (const name of ["order", "parcel"]) {
  await send(RegisterWorkflowTypeCommand, {
    name, version: "1", defaultTaskList: list(name), defaultTaskStartToCloseTimeout: "30",
    defaultExecutionStartToCloseTimeout: "300", defaultChildPolicy: "TERMINATE",
  });
}
await send(RegisterActivityTypeCommand, {
  name: "charge", version: "1", defaultTaskList: list("charge"), defaultTaskHeartbeatTimeout: "NONE",
  defaultTaskScheduleToCloseTimeout: "60", defaultTaskScheduleToStartTimeout: "60", defaultTaskStartToCloseTimeout: "30",
});

// The decisions of an order: charge until that succeeds, then wait for a timer and a signal, then send a parcel.
function decide(events) {
  const has = (type) => events.some((event) => event.eventType === type);
  const count = (type) => events.filter((event) => event.eventType === type).length;
  if (has("ChildWorkflowExecutionCompleted")) {
    return [{ decisionType: "CompleteWorkflowExecution", completeWorkflowExecutionDecisionAttributes: {} }];
  }
  if (has("StartChildWorkflowExecutionInitiated")) return [];
  if (has("TimerFired") && has("WorkflowExecutionSignaled")) {
    return [{
      decisionType: "StartChildWorkflowExecution",
      startChildWorkflowExecutionDecisionAttributes: { workflowId: "parcel", workflowType: { name: "parcel", version: "1" } },
    }];
  }
  if (has("TimerStarted")) return [];
  if (has("ActivityTaskCompleted")) {
    return [
      { decisionType: "RecordMarker", recordMarkerDecisionAttributes: { markerName: "paid" } },
      { decisionType: "StartTimer", startTimerDecisionAttributes: { timerId: "pause", startToFireTimeout: "0" } },
    ];
  }
  if (count("ActivityTaskScheduled") > count("ActivityTaskFailed")) return [];
  return [{
    decisionType: "ScheduleActivityTask",
    scheduleActivityTaskDecisionAttributes: { activityId: "charge", activityType: { name: "charge", version: "1" }, input: "99" },
  }];
}

const parcel = () => [
  { decisionType: "CompleteWorkflowExecution", completeWorkflowExecutionDecisionAttributes: { result: "on its way" } },
];

// A decider reads the newest events first, in small pages, until it has them all.
async function decider(name, decisions, signal) {
  while (!signal.aborted) {
    const poll = { taskList: list(name), identity: "node", maximumPageSize: 5, reverseOrder: true };
    let task = await client.send(new PollForDecisionTaskCommand({ domain: "node", ...poll }), { abortSignal: signal });
    if (!task.taskToken) continue;
    const events = task.events;
    while (task.nextPageToken) {
      task = await send(PollForDecisionTaskCommand, { ...poll, nextPageToken: task.nextPageToken });
      events.push(...task.events);
    }
    events.reverse();
    assert.deepEqual(events.map((event) => event.eventId), events.map((_, i) => i + 1));
    await answer(RespondDecisionTaskCompletedCommand, { taskToken: task.taskToken, decisions: decisions(events) });
  }
}

// The first attempt of a worker fails.
async function worker(signal) {
  for (let attempt = 1; !signal.aborted; ) {
    const task = await client.send(
      new PollForActivityTaskCommand({ domain: "node", taskList: list("charge") }), { abortSignal: signal },
    );
    const { taskToken } = task;
    if (!taskToken) continue;
    assert.equal(task.input, "99");
    const { cancelRequested } = await answer(RecordActivityTaskHeartbeatCommand, { taskToken, details: "half" });
    assert.equal(cancelRequested, false);
    if (attempt++ === 1) {
      await answer(RespondActivityTaskFailedCommand, { taskToken, reason: "declined" });
    } else {
      await answer(RespondActivityTaskCompletedCommand, { taskToken, result: "receipt 17" });
    }
    await assert.rejects(
      answer(RespondActivityTaskCompletedCommand, { taskToken }), (error) => error.name === "UnknownResourceFault",
    );
  }
}

const stop = new AbortController();
const left = (error) => assert.equal(error.name, "AbortError");
const working = [
  decider("order", decide, stop.signal).catch(left), decider("parcel", parcel, stop.signal).catch(left),
  worker(stop.signal).catch(left),
];
const start = { workflowId: "order", workflowType: { name: "order", version: "1" }, tagList: ["gift"] };
const { runId } = await send(StartWorkflowExecutionCommand, start);
await assert.rejects(
  send(StartWorkflowExecutionCommand, start),
  (error) => error.name === "WorkflowExecutionAlreadyStartedFault" && error.$metadata.httpStatusCode === 400,
);
await send(SignalWorkflowExecutionCommand, { workflowId: "order", signalName: "go", input: "now" });
const execution = { workflowId: "order", runId };
let described;
do {
  described = await send(DescribeWorkflowExecutionCommand, { execution });
} while (described.executionInfo.executionStatus === "OPEN");
assert.equal(described.executionInfo.closeStatus, "COMPLETED");
assert.ok(described.executionInfo.closeTimestamp >= described.executionInfo.startTimestamp);

// The whole history comes in pages, and each event has its attributes.
const events = [];
for (let nextPageToken; ; ) {
  const page = await send(GetWorkflowExecutionHistoryCommand, { execution, maximumPageSize: 4, nextPageToken });
  events.push(...page.events);
  if (!(nextPageToken = page.nextPageToken)) break;
}
const attributes = (type) => {
  const { eventType, ...event } = events.find((each) => each.eventType === type);
  return event[eventType[0].toLowerCase() + eventType.slice(1) + "EventAttributes"];
};
assert.equal(attributes("ActivityTaskFailed").reason, "declined");
assert.equal(attributes("ActivityTaskCompleted").result, "receipt 17");
assert.equal(attributes("MarkerRecorded").markerName, "paid");
assert.equal(attributes("WorkflowExecutionSignaled").input, "now");
assert.equal(attributes("ChildWorkflowExecutionCompleted").result, "on its way");
assert.equal(events.at(-1).eventType, "WorkflowExecutionCompleted");
assert.ok(events[0].eventTimestamp instanceof Date);
const { executionInfos } = await send(ListClosedWorkflowExecutionsCommand, {
  closeTimeFilter: { oldestDate: new Date(0) }, tagFilter: { tag: "gift" },
});
assert.deepEqual(executionInfos.map((info) => info.execution), [execution]);
stop.abort();
await Promise.all(working);
