// Hosts that go on while somebody looks.
import type { TestContext } from "node:test";
import type { FakeHost } from "../../hosts/fake-host.ts";

const LOOK_MS = 100;
/** Far below the time after which a silent host counts as lost. */
const REPORT_MS = 10_000;

const LINES = [
  "starting trainer on 2 devices (RTX 4090, 24.6 GB each)",
  "loading tokenizer and data set: 1,204,331 samples in 38 shards",
  "resumed from /workspace/checkpoints/step-118000.pt",
  ...Array.from({ length: 24 }, (_, index) => {
    const step = 118_020 + index * 20;
    const loss = (1.842 - index * 0.003 + (index % 5) * 0.002).toFixed(4);
    return `step ${step.toLocaleString("en-US")}  loss ${loss}  lr 1.8e-05  ${(31.2 + (index % 4) * 0.3).toFixed(1)} samples/s`;
  }),
];

/** Lets the host answer each request for a log with some lines of a training. */
export function answerLogs(t: Pick<TestContext, "after">, host: FakeHost): void {
  const answered = new Set<string>();
  const answer = async () => {
    for (const message of host.received) {
      if (message.kind !== "task" || message.action.type !== "logs" || answered.has(message.task_id)) continue;
      answered.add(message.task_id);
      await host.answer(message.task_id, LINES.join("\n"));
    }
  };
  const looking = setInterval(() => void answer().catch(() => clearInterval(looking)), LOOK_MS);
  t.after(() => clearInterval(looking));
}

/** Lets the hosts report now and then, except of this instance, which goes on pulling. */
export function keepReporting(t: Pick<TestContext, "after">, hosts: readonly FakeHost[], pulling: number): void {
  const reporting = setInterval(() => {
    for (const host of hosts) {
      if (host.order(pulling) === undefined) host.report(host.obedience()).catch(() => clearInterval(reporting));
    }
  }, REPORT_MS);
  t.after(() => clearInterval(reporting));
}
