// The server of the scripted month, its two hosts, and the clock that everything happens by.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { disconnectUnowned, issueAgentToken } from "../../../server/src/domains/supply/hosts/for-assembly.ts";
import {
  CARD_HOLD_DAYS,
  setEarningsRules,
  setFeeRate,
} from "../../../server/src/domains/money/payments/for-assembly.ts";
import { asId, type UserId } from "../../../server/src/base/ids.ts";
import { testApp, type TestApp } from "../../support/app.ts";
import { aCaller } from "../../support/fixtures.ts";
import type { TestAnswer, TestCall } from "../../support/network/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { MonthHost } from "./host.ts";

const MINUTE_MS = 60_000;
/** The interval of agents' reports; a lease lasts as long. */
const BEAT_MS = 10 * MINUTE_MS;

/** How long hosts may wait for messages, except those about actions of people and settlements. */
const OBEY_MS = 6 * 60 * MINUTE_MS;

/** A settlement that is due so soon is not left to the next beat: something is used up, or has a new limit. */
const SETTLE_SOON_MS = MINUTE_MS;

/** How often loops run here: less often than in a server, so that a month passes quickly, and as often as matters. */
const LOOPS: readonly (readonly [string, number])[] = [
  ["settle-runs", BEAT_MS],
  ["settle-volumes", 60 * MINUTE_MS],
  ["enforce-deadlines", 60 * MINUTE_MS],
  ["release-lost-hosts", 60 * MINUTE_MS],
  ["review-schedules", 60 * MINUTE_MS],
  ["end-contracts", 60 * MINUTE_MS],
  ["switch-prices", 60 * MINUTE_MS],
  ["return-deposits", 60 * MINUTE_MS],
  ["watch-credit", 60 * MINUTE_MS],
  ["follow-arrears", 60 * MINUTE_MS],
  ["tell-of-caps", 6 * 60 * MINUTE_MS],
  ["reconcile", 6 * 60 * MINUTE_MS],
  ["add-up-charges", 6 * 60 * MINUTE_MS],
  ["add-up-earnings", 6 * 60 * MINUTE_MS],
  ["seal-audits", 24 * 60 * MINUTE_MS],
  ["issue-invoices", 6 * 60 * MINUTE_MS],
  ["issue-receipts", 12 * 60 * MINUTE_MS],
  ["issue-statements", 6 * 60 * MINUTE_MS],
  ["issue-credit-notes", 6 * 60 * MINUTE_MS],
  ["invoice-earnings", 12 * 60 * MINUTE_MS],
  ["send-due-payouts", 12 * 60 * MINUTE_MS],
  ["delete-ended-contracts", 12 * 60 * MINUTE_MS],
  ["delete-ended-volumes", 12 * 60 * MINUTE_MS],
];

/** Somebody with an account and a key of it. */
export type Person = { readonly id: UserId; readonly name: string; readonly email: string; readonly secret: string };
export type Entry = { readonly at: Date; readonly who: string; readonly what: string };
type Scope = Pick<TestContext, "after">;
type Method = NonNullable<TestCall["method"]>;

/** The whole server in a world whose time only the script moves. */
export class MonthWorld {
  readonly clock: ManualClock;
  /** The events so far, in order. */
  readonly story: Entry[] = [];
  readonly hosts: MonthHost[] = [];
  readonly admin: Person;
  #app: TestApp;
  readonly #scope: Scope;
  readonly #secret: Buffer;
  readonly #away = new Set<MonthHost>();
  readonly #dueMs = new Map<string, number>();

  private constructor(scope: Scope, parts: { app: TestApp; clock: ManualClock; secret: Buffer; admin: Person }) {
    this.#scope = scope;
    this.#app = parts.app;
    this.clock = parts.clock;
    this.#secret = parts.secret;
    this.admin = parts.admin;
  }

  static async begin(scope: Scope, at: string, { feePpm }: { readonly feePpm: number }): Promise<MonthWorld> {
    let close = async () => {};
    // Before the database's own hook: hooks run in the order in which they were added.
    scope.after(() => close());
    const [clock, secret] = [new ManualClock(at), randomBytes(32)];
    const app = await testApp(scope, { clock, secret });
    const { database } = app.env;
    // All credit of this month comes from an administrator, whom renters pay in another way.
    await withTransaction(database, clock, async (tx) => {
      await setFeeRate(tx, { feePpm });
      await setEarningsRules(tx, { grantedAfterDays: 0, cardHoldDays: CARD_HOLD_DAYS });
    });
    const admin = await aCaller(database, { email: "office@example.com", username: "office", isAdmin: true });
    const world = new MonthWorld(scope, { app, clock, secret, admin: { ...admin, name: "Office" } });
    close = async () => {
      for (const host of world.hosts) host.terminate();
      await world.#app.close();
    };
    return world;
  }

  get pool() {
    return this.#app.env.pool;
  }

  get complaints(): readonly string[] {
    return this.#app.complaints;
  }

  /** Notes what happened now. */
  tell(who: string, what: string): void {
    this.story.push({ at: this.clock.now(), who, what });
  }

  call(call: TestCall): Promise<TestAnswer> {
    return this.#app.call(call);
  }

  /** A request that must succeed; its path is what stands behind `/api`. */
  async done(who: Pick<Person, "secret">, method: Method, path: string, body?: unknown): Promise<TestAnswer["body"]> {
    const answer = await this.call({
      method,
      url: `/api${path}`,
      secret: who.secret,
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }

  /** An account that the administrator makes. */
  async person(name: string): Promise<Person> {
    const email = `${name.toLowerCase()}@example.com`;
    const made = await this.done(this.admin, "POST", "/v0/admin/users/", { email, username: name.toLowerCase() });
    return { id: asId<UserId>(made.id), name, email, secret: made.api_key };
  }

  async host(owner: Person, gpus: number): Promise<MonthHost> {
    const { database } = this.#app.env;
    const token = await withTransaction(database, this.clock, (tx) =>
      issueAgentToken(tx, { userId: owner.id, name: owner.name, isTrusted: true }),
    );
    const host = new MonthHost({ origin: this.#app.origin, token, clock: this.clock, database, gpus });
    this.hosts.push(host);
    await host.connect();
    await this.#app.settled();
    return host;
  }

  offersOf(host: MonthHost): Promise<ReadonlyMap<number, number>> {
    return this.#app.offersOf(host);
  }

  /** Hosts carry out their orders now. */
  async obey(): Promise<void> {
    for (const host of this.#present()) await host.obey();
  }

  /** Lets time pass up to this moment: hosts report, loops run when they are due. */
  async until(at: string): Promise<void> {
    const endMs = new Date(at).getTime();
    for (;;) {
      const nowMs = this.clock.now().getTime();
      assert.ok(nowMs <= endMs, `${at} is over`);
      if (nowMs === endMs) return;
      const beatMs = nowMs - (nowMs % BEAT_MS) + BEAT_MS;
      const nextMs = Math.min(beatMs, endMs);
      const soonMs = await this.#soonDueMs(nowMs);
      if (soonMs < nextMs) {
        this.clock.jump(soonMs - nowMs);
        await this.#settle();
      } else {
        this.clock.jump(nextMs - nowMs);
        await this.#beat();
      }
    }
  }

  /** The time at which the next instance is to be settled, if that is soon. */
  async #soonDueMs(nowMs: number): Promise<number> {
    const { rows } = await this.pool.query<{ due_ms: number | null }>(
      `select extract(epoch from min(settle_at))::float8 * 1000 as due_ms from instance_tabs
       where settle_at > $1 and settle_at <= $2`,
      [new Date(nowMs), new Date(nowMs + SETTLE_SOON_MS)],
    );
    return rows[0]?.due_ms ?? Infinity;
  }

  /** Between two beats: hosts report their counts, runs are settled, and instances that this stops are stopped at once. */
  async #settle(): Promise<void> {
    await this.#report();
    if (hasStopped(await this.#app.runLoop("settle-runs"))) await this.obey();
  }

  async #report(): Promise<void> {
    await Promise.all(
      this.#present().map((host) => host.report(host.obedience(), { volumes: host.obedientVolumes() })),
    );
  }

  /** The loops that are due, after hosts have said what they counted; then hosts do what came of it. */
  async #beat(): Promise<void> {
    await this.#report();
    const nowMs = this.clock.now().getTime();
    let isObeyDue = nowMs % OBEY_MS === 0;
    for (const [name, everyMs] of LOOPS) {
      if ((this.#dueMs.get(name) ?? 0) > nowMs) continue;
      this.#dueMs.set(name, nowMs - (nowMs % everyMs) + everyMs);
      const status = await this.#app.runLoop(name);
      isObeyDue ||= hasStopped(status);
    }
    if (isObeyDue) await this.obey();
  }

  /** Runs one loop now. */
  runLoop(name: string): Promise<unknown> {
    return this.#app.runLoop(name);
  }

  /** A host loses its line for so long; what it runs it stops when its lease is over. */
  async outage(host: MonthHost, { leaseMs, until }: { readonly leaseMs: number; readonly until: string }) {
    await host.report(host.obedience(), { volumes: host.obedientVolumes() });
    const fromMs = this.clock.now().getTime();
    await host.disconnect();
    this.#away.add(host);
    await this.until(until);
    host.stopAll(Math.min(fromMs + leaseMs, this.clock.now().getTime()));
    await host.connect();
    this.#away.delete(host);
    await this.obey();
    return { fromMs, untilMs: this.clock.now().getTime() };
  }

  /** The server goes down at once and another takes its place: agents connect again within their leases. */
  async restart(ms: number): Promise<void> {
    const { env } = this.#app;
    await this.#app.close();
    this.clock.jump(ms);
    this.#app = await testApp(this.#scope, { env, clock: this.clock, secret: this.#secret });
    await withTransaction(env.database, this.clock, (tx) => disconnectUnowned(tx, new Date(tx.now.getTime() + 1)));
    for (const host of this.hosts) await host.connectTo(this.#app.origin);
    await this.obey();
  }

  #present(): readonly MonthHost[] {
    return this.hosts.filter((host) => !this.#away.has(host));
  }
}

/** True when a settlement's status says that it stopped runs. */
function hasStopped(status: unknown): boolean {
  return typeof status === "object" && status !== null && "stopped" in status && status.stopped !== 0;
}
