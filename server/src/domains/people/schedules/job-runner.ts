import type { Clock } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import type { LoopStatus } from "../../../base/loop-driver.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { findIdentityOfKey } from "../accounts/for-schedules.ts";
import { claimDue, endRun, giveUpLost, releaseRun, type BegunRun } from "./occurrence-service.ts";
import type { JobRequest } from "./rules/job.ts";
import { KEY_GONE, resultOf, UNREADABLE, type Answer, type RunResult } from "./rules/outcome.ts";
import { openBody } from "./service.ts";

const RUNS_AT_ONCE = 32;
const RUNS_PER_USER = 4;
/** Longer than any request takes: a server that has not stored a result by then is gone, or stands still. */
const LOST_MS = 600_000;
const LOST_PER_RUN = 100;
/** Refusals of one run by the rate limit, which comes before everything else: what it refuses has no effect. */
const REFUSALS_MAX = 20;
const REFUSAL_WAIT_MAX_MS = 5_000;

/** Sends a request to this server itself as the caller; undefined, without sending it, while the server closes. */
export type SendAs = (
  identity: Identity,
  request: JobRequest,
) => Promise<(Answer & { readonly retryAfterMs: number | undefined }) | undefined>;

export type RunnerPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly encryption: Encryption;
  readonly sendAs: SendAs;
};

/**
 * Runs jobs when they are due. A look begins runs and does not wait for them, so that slow requests hold up no others. Any
 * number of processes may look at once: each occurrence is begun by one of them.
 */
export class JobRunner {
  readonly #ports: RunnerPorts;
  readonly #underWay = new Map<Promise<void>, UserId>();
  #isStopping = false;

  constructor(ports: RunnerPorts) {
    this.#ports = ports;
  }

  async run(): Promise<LoopStatus> {
    const { database, clock } = this.#ports;
    const unknown = await withTransaction(database, clock, (tx) =>
      giveUpLost(tx, new Date(tx.now.getTime() - LOST_MS), LOST_PER_RUN),
    );
    return { begun: await this.#begin(), unknown, under_way: this.#underWay.size };
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.keys());
  }

  /** Begins no more runs, and waits for those under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.idle();
  }

  async #begin(): Promise<number> {
    const { database, clock } = this.#ports;
    let count = 0;
    while (!this.#isStopping && this.#underWay.size < RUNS_AT_ONCE) {
      const byUser = Map.groupBy(this.#underWay.values(), (userId) => userId);
      const underWay = new Map([...byUser].map(([userId, own]) => [userId, own.length]));
      const total = RUNS_AT_ONCE - this.#underWay.size;
      const { decided, begun } = await withTransaction(database, clock, (tx) =>
        claimDue(tx, { total, perUser: RUNS_PER_USER, underWay }),
      );
      if (decided === 0) break;
      for (const run of begun) this.#start(run);
      count += begun.length;
    }
    return count;
  }

  #start(run: BegunRun): void {
    const done = this.#carryOut(run)
      // A run whose result cannot be stored becomes unknown later.
      .catch((error: unknown) => this.#ports.log.error({ err: error, job: run.job.id }, "a scheduled run failed"))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.set(done, run.job.userId);
  }

  async #carryOut(run: BegunRun): Promise<void> {
    const { database, clock } = this.#ports;
    const result = await this.#send(run);
    if (result === undefined) this.#isStopping = true;
    await withTransaction(database, clock, (tx) =>
      result === undefined ? releaseRun(tx, run) : endRun(tx, run, result),
    );
  }

  /** The result of the run's request; undefined when it was not sent, since the server closes. */
  async #send({ job }: BegunRun): Promise<RunResult | undefined> {
    const { database, clock, encryption, sendAs } = this.#ports;
    const body = openBody(job, encryption);
    if (body === undefined) return UNREADABLE;
    for (let refusals = 1; ; refusals += 1) {
      // Read each time, and from the database: the key may do what it may do at this moment.
      const identity = await findIdentityOfKey(database.kysely, job.apiKeyId, clock.now());
      if (identity === undefined || identity.userId !== job.userId) return KEY_GONE;
      const answer = await sendAs(identity, { method: job.method, endpoint: job.endpoint, body });
      if (answer === undefined) return undefined;
      const { status, retryAfterMs } = answer;
      if (status !== 429 || retryAfterMs === undefined || refusals >= REFUSALS_MAX) return resultOf(answer);
      await clock.sleep(Math.min(retryAfterMs, REFUSAL_WAIT_MAX_MS));
    }
  }
}
