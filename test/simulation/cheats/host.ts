import type { MachineFacts } from "../../../protocol/index.ts";
import type { FakeHostOptions } from "../../support/hosts/fake-host.ts";
import { MonthHost, type Run, type Stretch } from "../month/host.ts";

const GB = 1e9;
/** Reports that a host keeps to say them again. */
const REPORTS_KEPT = 5;

/** A host's inventions about one instance, beyond the real work of its containers. */
type Invented = { receivedBytes: number; sentBytes: number; runningMs: number };

/**
 * An agent in the hands of a host who may cheat. `runs` of MonthHost is the truth: what its containers really did. What
 * it reports may differ from the truth in each way that the protocol lets it.
 */
export class CheatHost extends MonthHost {
  /** True while the host has never lied, been away, or lost anything: all its runs have to be paid. */
  isHonest = true;
  isAway = false;
  /** The host reports stopped containers as running on, and never confirms an end. */
  isDeaf = false;
  /** Containers that it starts from now on take this long to load, and are reported as running at once. */
  fakeLoadMs = 0;
  /** The digest of the state of its instances and volumes in the database at its last report. */
  digest = "";
  #bootNumber = 1;
  readonly #cheatClock: FakeHostOptions["clock"];
  readonly #invented = new Map<number, Invented>();
  /** Runs that were reported as running, with their time when it was reported last. */
  readonly #reported = new Map<string, { readonly runningMs: number; readonly atMs: number }>();
  readonly #seenRuns = new Set<Run>();
  /** Runs whose containers are made again: the next report says so. */
  readonly #madeAgain = new Set<string>();
  readonly #spoken: Parameters<MonthHost["report"]>[0][] = [];
  #claimed: Partial<MachineFacts> = {};
  readonly #made: ConstructorParameters<typeof MonthHost>[0];

  constructor(options: ConstructorParameters<typeof MonthHost>[0]) {
    super(options);
    this.#made = options;
    this.#cheatClock = options.clock;
  }

  /** Says at each connection from now on that its machine has these facts. */
  claim(facts: Partial<MachineFacts>): void {
    this.#claimed = { ...this.#claimed, ...facts };
  }

  override hello(overrides: Parameters<MonthHost["hello"]>[0] = {}): ReturnType<MonthHost["hello"]> {
    const plain = super.hello();
    return {
      ...plain,
      boot_id: `boot-${this.#bootNumber}`,
      engine: { kind: "docker", version: "29" },
      machine: { ...plain.machine, is_simulated: false, ...this.#claimed },
      ...overrides,
    };
  }

  /** Another machine with the credential of this one: its name is that of a second simulated host. */
  twin(): CheatHost {
    const { hostKey = "", ...options } = this.#made;
    return new CheatHost({ ...options, hostKey: `${hostKey}-1` });
  }

  override async report(...[seen, options]: Parameters<MonthHost["report"]>): Promise<void> {
    const isWork = seen.some(({ state }) => state === "running");
    if (isWork && this.#spoken.length < REPORTS_KEPT) this.#spoken.push(seen);
    await super.report(seen, options);
  }

  /** Says again, in the order in which they were said, what its first reports of running containers said. */
  async replay(): Promise<void> {
    for (const seen of this.#spoken.slice()) await super.report(seen);
  }

  /** Invents traffic and running time of an instance. */
  invent(instanceId: number, { gigabytes = 0, runningMs = 0 }: { gigabytes?: number; runningMs?: number }): void {
    const before = this.#invented.get(instanceId) ?? { receivedBytes: 0, sentBytes: 0, runningMs: 0 };
    before.receivedBytes += gigabytes * GB;
    before.sentBytes += gigabytes * GB;
    before.runningMs += runningMs;
    this.#invented.set(instanceId, before);
  }

  /** The agent starts again and its containers are gone: it makes new ones in the same generations. Returns whose. */
  async restartWithoutContainers(): Promise<readonly Run[]> {
    const nowMs = this.#cheatClock.now().getTime();
    const lost = this.runs.filter((run) => isOpen(run.stretches));
    for (const { instanceId, generation, stretches } of lost) {
      this.#madeAgain.add(`${instanceId} ${generation}`);
      const last = stretches.at(-1);
      if (last !== undefined) last.untilMs = nowMs;
      stretches.push({ fromMs: nowMs, untilMs: undefined });
    }
    this.#bootNumber += 1;
    await this.disconnect();
    await this.connect();
    return lost;
  }

  override obedience(): ReturnType<MonthHost["obedience"]> {
    const nowMs = this.#cheatClock.now().getTime();
    const truth = super.obedience();
    this.#delayNewRuns(nowMs);
    return truth.map((seen) => this.#told(seen, nowMs));
  }

  /** The SSH server greets in containers that really run. */
  protected override door(instanceId: number): string | undefined {
    const nowMs = this.#cheatClock.now().getTime();
    const isUp = this.runs.some(
      (run) => run.instanceId === instanceId && isOpen(run.stretches) && (run.stretches[0]?.fromMs ?? 0) <= nowMs,
    );
    return isUp ? "SSH-2.0-cheats\r\n" : undefined;
  }

  /** Moves the beginning of new runs: in truth their containers are still loading. */
  #delayNewRuns(nowMs: number): void {
    for (const run of this.runs) {
      const [first] = run.stretches;
      if (first === undefined || this.#seenRuns.has(run)) continue;
      this.#seenRuns.add(run);
      if (this.fakeLoadMs > 0) run.stretches.splice(0, 1, { fromMs: nowMs + this.fakeLoadMs, untilMs: first.untilMs });
    }
  }

  #told(seen: ReturnType<MonthHost["obedience"]>[number], nowMs: number) {
    const key = `${seen.instance_id} ${seen.generation}`;
    if (this.#madeAgain.delete(key)) return { ...seen, state: "starting" as const, ports: {} };
    const before = this.#reported.get(key);
    const extra = this.#invented.get(seen.instance_id);
    const isRunning = seen.state === "running" || (this.isDeaf && before !== undefined);
    if (before === undefined && !isRunning) return seen;
    // A liar counts by the clock; an honest host says what is so.
    const isLie = this.fakeLoadMs > 0 || this.isDeaf || extra !== undefined || this.#isLoading(seen, nowMs);
    const byClock = before === undefined ? 0 : before.runningMs + (isRunning ? nowMs - before.atMs : 0);
    const runningMs = isLie ? byClock : (seen.counters?.running_ms ?? 0);
    if (isRunning) this.#reported.set(key, { runningMs, atMs: nowMs });
    const { received_bytes: received = 0, sent_bytes: sent = 0 } = seen.counters ?? {};
    return {
      ...seen,
      state: isRunning ? ("running" as const) : seen.state,
      counters: {
        running_ms: runningMs + (extra?.runningMs ?? 0),
        received_bytes: received + (extra?.receivedBytes ?? 0),
        sent_bytes: sent + (extra?.sentBytes ?? 0),
      },
    };
  }

  /** Bytes that this host has invented for an instance, each way: it says the same of each run. */
  inventedBytes(instanceId: number): bigint {
    const runCount = this.runs.filter((run) => run.instanceId === instanceId).length;
    return BigInt((this.#invented.get(instanceId)?.sentBytes ?? 0) * runCount);
  }

  #isLoading(seen: { readonly instance_id: number; readonly generation: number }, nowMs: number): boolean {
    const run = this.runs.find((one) => one.instanceId === seen.instance_id && one.generation === seen.generation);
    return run !== undefined && isOpen(run.stretches) && (run.stretches[0]?.fromMs ?? 0) > nowMs;
  }
}

function isOpen(stretches: readonly Stretch[]): boolean {
  const last = stretches.at(-1);
  return last !== undefined && last.untilMs === undefined;
}
