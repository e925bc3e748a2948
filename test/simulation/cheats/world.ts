// The servers of the market of cheats: two apps over one database for all seeds, whose clocks differ. A batch of seeds is
// played in step, so that what the servers do for many at once is done once.
import assert from "node:assert/strict";
import { asId, type EndpointGroupId, type UserId } from "../../../server/src/base/ids.ts";
import { STOP_SECONDS } from "../../../server/src/base/stop-times.ts";
import { audit, type AuditReport } from "../../../server/src/domains/money/audit/audit-service.ts";
import { NO_PAYMENTS } from "../../../server/src/domains/money/payments/for-assembly.ts";
import { soon, testApp, type TestApp } from "../../support/app.ts";
import { aCaller, type TestCaller } from "../../support/fixtures.ts";
import type { TestAnswer, TestCall } from "../../support/network/http.ts";
import { aJoiner, join } from "../../support/hosts/joins.ts";
import { FollowingClock, ManualClock } from "../../support/manual-clock.ts";
import { testDatabase } from "../../support/database/postgres.ts";
import { StripeServer } from "../../support/money/stripe-server.ts";
import { noneByHand, type Case, type Person } from "./case.ts";
import { CheatHost } from "./host.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The interval of agents' reports: less than a lease. */
const BEAT_MS = 8 * MINUTE_MS;
const ROUNDS_OF_OBEYING_MAX = 8;
const GPUS = 2;
/** How late a settlement may be at the end of a balance: within the time of a certain stop, which is set aside. */
const LATE_MS = STOP_SECONDS * 1000 - 15_000;

/** Loops that run here and how often. One that is not due costs a batch nothing. */
const LOOPS: readonly (readonly [string, number])[] = [
  ["reach-starts", 0],
  ["settle-runs", 0],
  ["follow-arrears", BEAT_MS],
  ["settle-volumes", 10 * MINUTE_MS],
  ["release-lost-hosts", BEAT_MS],
  ["enforce-deadlines", BEAT_MS],
  ["enforce-freezes", BEAT_MS],
  ["close-standing-requests", BEAT_MS],
  ["delete-ended-volumes", HOUR_MS],
  ["return-deposits", HOUR_MS],
  ["review-schedules", HOUR_MS],
  ["switch-prices", HOUR_MS],
  ["end-contracts", HOUR_MS],
  ["tell-of-caps", HOUR_MS],
  ["watch-credit", 6 * HOUR_MS],
];
/** Loops that a server runs for the machines that are connected to it. */
const OWN_LOOPS: ReadonlySet<string> = new Set(["reach-starts"]);
const MATCH_LOOP = "match-standing-requests";
const FRIDAY_LOOPS = ["add-up-earnings", "invoice-earnings", "send-due-payouts"] as const;

export type Scope = Parameters<typeof testApp>[0];
type Method = NonNullable<TestCall["method"]>;

export class CheatsWorld {
  /** The first server. */
  readonly app: TestApp;
  readonly servers: readonly [TestApp, TestApp];
  readonly clock: ManualClock;
  readonly stripe: StripeServer;
  readonly admin: TestCaller;
  readonly #dueMs = new Map<string, number>();
  /** How many requests each key has made, and how often each loop has run: the servers take turns. */
  readonly #turns = new Map<string, number>();
  /** Keys that may only read and delete, each with a function that hears of other things done with it. */
  readonly shut = new Map<string, (done: string) => void>();
  #personCount = 0;
  #nameCount = 0;

  /** The lead of the second server's clock. */
  readonly aheadMs: number;

  private constructor(parts: Pick<CheatsWorld, "servers" | "clock" | "stripe" | "admin" | "aheadMs">) {
    this.aheadMs = parts.aheadMs;
    this.servers = parts.servers;
    this.app = parts.servers[0];
    this.clock = parts.clock;
    this.stripe = parts.stripe;
    this.admin = parts.admin;
  }

  static async begin(scope: Scope, { aheadMs = 0 } = {}): Promise<CheatsWorld> {
    const stripe = await StripeServer.start();
    scope.after(() => stripe.close());
    // A Saturday: the first Friday on which hosts are paid is far.
    const clock = new ManualClock("2026-01-03T08:00:00Z");
    // It outlives the servers.
    const env = await testDatabase();
    const shared = { env, payments: { ...NO_PAYMENTS, stripe: stripe.settings } };
    const one = await testApp(scope, { ...shared, clock, dataDirKey: "one" });
    const two = await testApp(scope, { ...shared, clock: new FollowingClock(clock, aheadMs), dataDirKey: "two" });
    const admin = await aCaller(env.database, { email: "office@example.com", username: "office", isAdmin: true });
    return new CheatsWorld({ servers: [one, two], clock, stripe, admin, aheadMs });
  }

  /** A name that no other case of this world has. */
  newName(stem: string): string {
    this.#nameCount += 1;
    return `${stem}-${this.#nameCount}`;
  }

  nowMs(): number {
    return this.clock.now().getTime();
  }

  async ask(
    secret: string,
    method: Method,
    path: string,
    body?: unknown,
    headers: NonNullable<TestCall["headers"]> = {},
  ): Promise<TestAnswer> {
    const call = { method, url: `/api/v0${path}`, secret, headers };
    const answer = await this.#next(secret).call(body === undefined ? call : { ...call, body });
    const isChange = method !== "GET" && method !== "DELETE";
    if (isChange && answer.status === 200) this.shut.get(secret)?.(`${method} ${path}`);
    return answer;
  }

  /** The server whose turn it is. */
  #next(name: string): TestApp {
    const turn = this.#turns.get(name) ?? 0;
    this.#turns.set(name, turn + 1);
    return this.servers[turn % 2 === 0 ? 0 : 1];
  }

  /** Resolves when both servers know all changes. */
  async settled(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.settled()));
  }

  async #runLoop(name: string): Promise<void> {
    if (OWN_LOOPS.has(name)) for (const server of this.servers) await server.runLoop(name);
    else await this.#next(name).runLoop(name);
  }

  /** A request that must succeed. */
  async done(secret: string, method: Method, path: string, body?: unknown): Promise<TestAnswer["body"]> {
    const answer = await this.ask(secret, method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  }

  async person(name: string): Promise<Person> {
    this.#personCount += 1;
    const mailbox = `${name.toLowerCase()}-${this.#personCount}@example.com`;
    const { id, secret } = await aCaller(this.app.env.database, { email: mailbox, username: name.toLowerCase() });
    const shown = { shown: new Map(), shownSpace: new Map() };
    const lists = {
      payments: [],
      sentTo: new Set<string>(),
      ...shown,
      narrowKeys: new Map(),
      freezes: [],
      byHand: noneByHand(),
    };
    return { name, id, mailbox, email: mailbox, secret, grantedNanos: 0n, ...lists };
  }

  /** A machine of this person that joins as the docs say, and that an administrator verifies. */
  async machineOf(owner: Person): Promise<CheatHost> {
    const joiner = aJoiner();
    const credential = await join(this.app, { secret: owner.secret } as TestCaller, joiner);
    const { host_key: hostKey, fingerprint } = joiner;
    const facts = { token: credential, hostKey, fingerprint, gpus: GPUS };
    const { origin, env } = this.servers[owner.name === "Hana" ? 1 : 0];
    const host = new CheatHost({ ...facts, origin, clock: this.clock, database: env.database });
    await host.connect();
    const path = `/admin/machines/${host.machineId}/verification/`;
    await this.done(this.admin.secret, "PUT", path, { verification: "verified" });
    return host;
  }

  /** Lets time pass: hosts report, loops run when they are due, and hosts carry out the orders that follow. */
  async pass(cases: readonly Case[], ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= BEAT_MS) {
      const beatMs = this.nowMs() + Math.min(leftMs, BEAT_MS);
      await this.#settleUntil(beatMs, presentHosts(cases));
      this.clock.jump(beatMs - this.nowMs());
      await this.report(presentHosts(cases));
      await this.runLoops();
      await this.match(cases);
      await this.obey(cases);
    }
    await this.#autoscale(cases);
    await this.obey(cases);
  }

  /** Goes on towards a moment, and settles runs at the end of their balance, as the server's loop does. */
  async #settleUntil(untilMs: number, hosts: readonly CheatHost[]): Promise<void> {
    for (;;) {
      const due = await this.#dueTimes(hosts);
      const atMs = Math.max(Math.min(...due.values()), this.nowMs() + LATE_MS);
      if (atMs >= untilMs) return;
      this.clock.jump(atMs - this.nowMs());
      const settled = hosts.filter(({ machineId }) => (due.get(machineId) ?? Infinity) <= atMs);
      await this.report(settled);
      await this.#runLoop("settle-runs");
      await this.#obeyAt(settled);
    }
  }

  /** Lets time pass in which nobody does anything and no host is looked at. */
  async sleep(ms: number): Promise<void> {
    this.clock.jump(ms);
    await this.runLoops();
  }

  async runLoops(): Promise<void> {
    const nowMs = this.nowMs();
    for (const [name, everyMs] of LOOPS) {
      if ((this.#dueMs.get(name) ?? 0) > nowMs) continue;
      this.#dueMs.set(name, nowMs + everyMs);
      await this.#runLoop(name);
    }
  }

  /** Goes on to the Friday after next and pays hosts what is due. */
  async passFriday(): Promise<void> {
    const nowMs = this.nowMs();
    const fridayMs = DAY_MS + Math.ceil((nowMs - DAY_MS + 1) / (7 * DAY_MS)) * 7 * DAY_MS;
    await this.sleep(fridayMs - nowMs + MINUTE_MS);
    for (const name of FRIDAY_LOOPS) await this.#runLoop(name);
  }

  /** Rents for standing requests that an offer matches. */
  async match(cases: readonly Case[]): Promise<void> {
    const nowMs = this.nowMs();
    const isWaiting = cases.some(({ waiting }) =>
      [...waiting.values()].some(({ untilMs, cancelledMs }) => cancelledMs === undefined && nowMs < untilMs + BEAT_MS),
    );
    if (!isWaiting) return;
    await this.settled();
    const { loops } = this.app.app;
    const runCount = () => loops.report().find(({ name }) => name === MATCH_LOOP)?.run_count ?? 0;
    // A run that is under way may have begun before the last change; the one after the next begins when that is over.
    const enough = runCount() + 2;
    await soon("looks for matches", () => {
      if (runCount() >= enough) return true;
      loops.wake(MATCH_LOOP);
      return false;
    });
    await this.settled();
  }

  /** Hosts carry out their orders, as far as they obey, until no new order comes. */
  async obey(cases: readonly Case[]): Promise<void> {
    await this.#obeyAt(presentHosts(cases));
  }

  async #obeyAt(hosts: readonly CheatHost[]): Promise<void> {
    if (hosts.length === 0) return;
    for (let round = 0; round < ROUNDS_OF_OBEYING_MAX; round += 1) {
      const digests = await this.#digests(hosts);
      const changed = hosts.filter((host) => digests.get(host.machineId) !== host.digest);
      if (changed.length === 0) return;
      for (const host of changed) host.digest = digests.get(host.machineId) ?? "";
      await Promise.all(changed.map((host) => host.synced()));
      await this.report(changed);
      await this.#runLoop("reach-starts");
    }
  }

  async report(hosts: readonly CheatHost[]): Promise<void> {
    const busy = hosts.filter(({ desired }) => (desired?.instances.length ?? 0) + (desired?.volumes.length ?? 0) > 0);
    const idle = hosts.filter((host) => !busy.includes(host));
    await Promise.all([
      ...busy.map((host) => host.report(host.obedience(), { volumes: host.obedientVolumes() })),
      ...idle.map((host) => host.report([])),
    ]);
  }

  async audit(): Promise<AuditReport> {
    return audit({ database: this.app.env.database, clock: this.clock }, { isFull: true });
  }

  async #autoscale(cases: readonly Case[]): Promise<void> {
    const fleets = cases.flatMap((one) => [...one.fleets.values()]).filter(({ deletedMs }) => deletedMs === undefined);
    if (fleets.length === 0) return;
    for (const { endpointId } of fleets) this.app.app.autoscaler.note(asId<EndpointGroupId>(endpointId));
    await this.app.app.autoscaler.run();
  }

  /**
   * When something is settled next on each machine that uses a balance up, since less than ten minutes of it are set aside,
   * or on which something is due at once, as after a dispute. What else has more set aside waits for the beat, and machines
   * that have nothing but that are left out.
   */
  async #dueTimes(hosts: readonly CheatHost[]): Promise<ReadonlyMap<number, number>> {
    const { rows } = await this.app.env.pool.query<{ id: number; due: Date }>(
      `select i.machine_id as id, min(t.settle_at) as due
       from instances i join instance_tabs t on t.instance_id = i.id join ledger_holds h on h.id = t.hold_id
       where i.machine_id = any($1::integer[])
         and (h.amount_nanos < i.price_nanos_per_hour / 6 or t.settle_at <= $2::timestamptz) group by 1`,
      [hosts.map(({ machineId }) => machineId), this.clock.now()],
    );
    return new Map(rows.map(({ id, due }) => [id, due.getTime()]));
  }

  /** Digests of the instances and volumes of each machine in the database. */
  async #digests(hosts: readonly CheatHost[]): Promise<ReadonlyMap<number, string>> {
    const { rows } = await this.app.env.pool.query<{ id: number; digest: string }>(
      `select m.id, concat(
         (select string_agg(concat_ws(' ', i.id, i.generation, i.phase, i.desired, i.revision), ',' order by i.id)
          from instances i where i.machine_id = m.id and i.phase <> 'ended'), '|',
         (select string_agg(concat_ws(' ', v.id, v.deleting_at is null), ',' order by v.id)
          from volumes v where v.machine_id = m.id and v.deleted_at is null)) as digest
       from machines m where m.id = any($1::integer[])`,
      [hosts.map(({ machineId }) => machineId)],
    );
    return new Map(rows.map(({ id, digest }) => [id, digest]));
  }
}

export function presentHosts(cases: readonly Case[]): readonly CheatHost[] {
  return cases.flatMap(({ machines }) => [...machines.values()]).flatMap(({ host }) => (host.isAway ? [] : [host]));
}

/** The ids of all people of these cases. */
export function peopleIn(cases: readonly Case[]): readonly UserId[] {
  return cases.flatMap(({ people }) => [...people.values()]).map(({ id }) => id);
}
