// Runs the machines of workloads.json with aws-local-stepfunctions: each line of
// the input names one by its index and how often; the answer is the seconds it took.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { StateMachine } from 'aws-local-stepfunctions';

const workloads = JSON.parse(readFileSync('workloads.json', 'utf8'));
const machines = workloads.map((w) => new StateMachine(w.Definition));

for await (const line of createInterface({ input: process.stdin })) {
  const [index, times] = line.split(' ').map(Number);
  const begun = process.hrtime.bigint();
  for (let i = 0; i < times; i++) {
    await machines[index].run(workloads[index].Input).result;
  }
  console.log(Number(process.hrtime.bigint() - begun) / 1e9);
}
