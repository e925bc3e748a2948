import type { ObservedInstance, Report } from "../../../../../../protocol/index.ts";
import { bytesIn, gistOf, usersIn } from "./report-gist.ts";
import { healthIn } from "./rules/gpu-report.ts";

/** How often the counters of an unchanged report are stored, and after how much traffic at the latest. */
const COUNT_EVERY_MS = 60_000;
const COUNT_EVERY_BYTES = 256_000_000;

/** Instances and volumes that a machine has by its agent's last report. */
export type Inventory = Pick<Report, "instances" | "volumes">;
const NOTHING_SAID: Inventory = { instances: [], volumes: [] };

/** The last counters that a machine reported and that are not stored yet, and the time of that report. */
export type UnstoredCounters = {
  readonly instances: readonly Pick<ObservedInstance, "instance_id" | "generation" | "state" | "counters">[];
  readonly at: Date;
};

/** How a report differs from the stored ones before it. */
export type News = {
  readonly gist: string;
  readonly health: string;
  /** The report equals the last stored one, counters and usage aside, and follows the same orders. */
  readonly isRepeat: boolean;
  /** A GPU is sick or healthy for the first time on this connection, or for another reason than before. */
  readonly isHealthNews: boolean;
  /** True when the counters are to be stored: most reports say no more than that time goes by. */
  readonly isCountNews: boolean;
  /** The report has no instances and no volumes. */
  readonly isIdle: boolean;
};

/** Remembers the stored reports of one connection, to tell what is new in the next one. */
export class SessionNews {
  #gist: string | undefined;
  #health = "[]";
  #lastInventory: Inventory | undefined;
  /** When counters were stored last, the traffic in them, and how many instances had a reading of their use. */
  #countedMs = 0;
  #countedBytes = 0;
  #usedCount = 0;
  /** The time of the newest report whose counters are not stored. */
  #uncountedAt: Date | undefined;

  /** The last stored inventory; undefined until the first report of this connection is stored. */
  get inventory(): Inventory | undefined {
    return this.#lastInventory;
  }

  get unstored(): UnstoredCounters | undefined {
    const at = this.#uncountedAt;
    const lastInventory = this.#lastInventory;
    return at === undefined || lastInventory === undefined ? undefined : { instances: lastInventory.instances, at };
  }

  compare(report: Report, nowMs: number): News {
    const [gist, health] = [gistOf(report), healthIn(report)];
    const isRepeat = gist === this.#gist;
    return {
      gist,
      health,
      isRepeat,
      isHealthNews: health !== this.#health,
      isCountNews: !isRepeat || this.#isCountDue(report, nowMs),
      isIdle: report.instances.length === 0 && report.volumes.length === 0,
    };
  }

  /** Notes that the counters of a report are stored, or wait for a later report. */
  noteCounters({ instances }: Report, { isCountNews }: News, receivedAt: Date, nowMs: number): void {
    if (isCountNews) {
      this.#countedMs = nowMs;
      this.#countedBytes = bytesIn(instances);
      this.#usedCount = usersIn(instances);
      this.#uncountedAt = undefined;
    } else if (instances.length > 0) this.#uncountedAt = receivedAt;
  }

  /** Notes that the report's GPU health is stored. */
  noteHealth({ health }: News): void {
    this.#health = health;
  }

  /** Notes that a report is stored, or that it says nothing that has to be stored. */
  noteStored({ instances, volumes }: Report, { gist, isIdle }: News): void {
    this.#gist = gist;
    this.#lastInventory = isIdle ? NOTHING_SAID : { instances, volumes };
  }

  #isCountDue({ instances }: Report, nowMs: number): boolean {
    if (instances.length === 0) return false;
    if (nowMs - this.#countedMs >= COUNT_EVERY_MS) return true;
    // An instance that has just begun to run has its first reading soon after.
    return bytesIn(instances) - this.#countedBytes > COUNT_EVERY_BYTES || usersIn(instances) > this.#usedCount;
  }
}
