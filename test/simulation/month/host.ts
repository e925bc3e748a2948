import { FakeHost, type FakeHostOptions } from "../../support/hosts/fake-host.ts";

/** A stretch of time in which a container ran, in milliseconds since 1970; without an end it still does. */
export type Stretch = { readonly fromMs: number; untilMs: number | undefined };

/** The work of one start of one instance on its host, as it really was. */
export type Run = { readonly instanceId: number; readonly generation: number; readonly stretches: Stretch[] };

/** Traffic of an instance in bytes a second, as long as it runs. */
export type Flow = {
  readonly instanceId: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly receivedPerSecond: number;
  readonly sentPerSecond: number;
};

/** An agent that keeps a diary of what really ran, moves bytes, and stops everything when its lease has run out. */
export class MonthHost extends FakeHost {
  readonly runs: Run[] = [];
  readonly flows: Flow[] = [];
  /** Instances whose images are still on their way: their runs begin later. */
  readonly loading = new Set<number>();
  readonly #clock: FakeHostOptions["clock"];
  /** Starts that are over although nobody has asked for that yet. */
  readonly #dead = new Set<Run>();

  constructor(options: ConstructorParameters<typeof FakeHost>[0]) {
    super(options);
    this.#clock = options.clock;
  }

  /** Stops all runs at this moment, at which the host's lease ran out. */
  stopAll(atMs: number): void {
    for (const run of this.runs) {
      const last = run.stretches.at(-1);
      if (last === undefined || last.untilMs !== undefined) continue;
      last.untilMs = atMs;
      this.#dead.add(run);
    }
  }

  override obedience(): ReturnType<FakeHost["obedience"]> {
    const nowMs = this.#clock.now().getTime();
    const asked = super.obedience();
    const ended = asked.flatMap((seen) => this.#endOlder(seen, nowMs));
    const told = asked.map((seen) => {
      const run = this.#runOf(seen.instance_id, seen.generation);
      const isDead = this.#dead.has(run);
      const isLoading = seen.state === "running" && this.loading.has(seen.instance_id);
      const isRunning = seen.state === "running" && !isDead && !isLoading;
      const last = run.stretches.at(-1);
      const isOpen = last !== undefined && last.untilMs === undefined;
      if (isRunning && !isOpen) run.stretches.push({ fromMs: nowMs, untilMs: undefined });
      if (!isRunning && isOpen) last.untilMs = nowMs;
      const counters = { running_ms: ranMs(run, nowMs), ...this.#bytesOf(run, nowMs) };
      const otherwise = isDead && seen.state === "running" ? STOPPED : isLoading ? PULLING : {};
      return { ...seen, counters, ...otherwise };
    });
    return [...ended, ...told];
  }

  /** Ends runs that make room for the next one of their instance, and reports their last counters, as agents do. */
  #endOlder({ instance_id, generation }: Seen, nowMs: number): readonly Seen[] {
    return this.runs.flatMap((run) => {
      const last = run.stretches.at(-1);
      const isOlder = run.instanceId === instance_id && run.generation < generation;
      if (!isOlder || last === undefined || last.untilMs !== undefined) return [];
      last.untilMs = nowMs;
      const counters = { running_ms: ranMs(run, nowMs), ...this.#bytesOf(run, nowMs) };
      return [{ instance_id, generation: run.generation, counters, ...ENDED }];
    });
  }

  #runOf(instanceId: number, generation: number): Run {
    const known = this.runs.find((run) => run.instanceId === instanceId && run.generation === generation);
    if (known !== undefined) return known;
    const run: Run = { instanceId, generation, stretches: [] };
    this.runs.push(run);
    return run;
  }

  #bytesOf({ instanceId, stretches }: Run, nowMs: number) {
    const bytes = { received_bytes: 0, sent_bytes: 0 };
    for (const flow of this.flows.filter((one) => one.instanceId === instanceId)) {
      for (const { fromMs, untilMs = nowMs } of stretches) {
        const ms = Math.max(0, Math.min(untilMs, flow.untilMs, nowMs) - Math.max(fromMs, flow.fromMs));
        bytes.received_bytes += (ms * flow.receivedPerSecond) / 1000;
        bytes.sent_bytes += (ms * flow.sentPerSecond) / 1000;
      }
    }
    return bytes;
  }
}

type Seen = ReturnType<FakeHost["obedience"]>[number];
const ENDED = { state: "stopped", status_msg: "stopped", ports: {} } as const;
const PULLING = { state: "pulling", status_msg: "pulling", ports: {} } as const;
const STOPPED = { state: "stopped", status_msg: "its lease ran out", ports: {} } as const;

function ranMs({ stretches }: Run, nowMs: number): number {
  // A run that is still loading begins later than now.
  return stretches.reduce((sum, { fromMs, untilMs = nowMs }) => sum + Math.max(0, untilMs - fromMs), 0);
}
